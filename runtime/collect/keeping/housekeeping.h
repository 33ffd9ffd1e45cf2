// Removing what was kept for as long as it was to be.
#pragma once

#include <chrono>
#include <filesystem>

namespace traceback::collect {

// What processes left in the ring folder that were killed, once they have been seen to be gone for that long:
// a file `ended` in a process's folder says since when. Whatever a living process has, or somebody is
// recovering, is left alone; with no time, everything. So it is, of root, with foldersOfFormerRoot()
// (files/former_root.h).
void tidyRings(const std::filesystem::path& ringFolder, std::chrono::seconds keep);

}  // namespace traceback::collect
