// The folder that holds the folders of all traced processes of a user.
#pragma once

#include <filesystem>
#include <system_error>
#include <vector>

#include "runtime/collect/files/process_folder.h"

namespace traceback::collect {

struct NamedFolder {
  std::filesystem::path path;
  ProcessName name;
};

// In no order, what there is up to an error.
std::vector<NamedFolder> listProcessFolders(const std::filesystem::path& ringFolder, std::error_code& error);

// The same; none unless the ring folder is private (private_folder.h): where everybody may make folders,
// somebody else may have made this one.
std::vector<NamedFolder> processFoldersIn(const std::filesystem::path& ringFolder);

}  // namespace traceback::collect
