// Libraries that lie beside the file that needs them.
#pragma once

#include <filesystem>

namespace traceback::app {

// `file` has a copy below `mirror`, at its own path. For each folder that the file names by $ORIGIN, a link
// to it is put where the copy will look: the dynamic linker passes over folders that do not exist.
void linkOriginFolders(const std::filesystem::path& file, const std::filesystem::path& mirror);

}  // namespace traceback::app
