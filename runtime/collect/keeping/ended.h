// What is left of processes that ended by themselves but could not clean up, for they had locked themselves
// out of the file system (Landlock, chroot, another user).
#pragma once

#include <filesystem>
#include <vector>

namespace traceback::collect {

// Their folders.
std::vector<std::filesystem::path> endedFolders(const std::filesystem::path& ringFolder);
// Removes them, but for `kept`, and such of foldersOfFormerRoot() (files/former_root.h). Quick; keeps
// everything else.
void removeEnded(const std::filesystem::path& ringFolder, const std::vector<std::filesystem::path>& kept);

}  // namespace traceback::collect
