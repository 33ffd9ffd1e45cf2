// What processes that ended by themselves left to be learned from (runtime/format/process.h).
#pragma once

#include <filesystem>
#include <vector>

#include "model/error.h"

namespace traceback::collect {

// Also the folders of those that could not give them another name, for they had locked themselves out of the
// file system, or had become another user's (a server's workers); what they left of other use is nothing. At
// most twice kLearnedFolders. None if nothing was left, or the ring folder is not the caller's alone.
std::vector<std::filesystem::path> learnedFolders(const std::filesystem::path& ringFolder);

// Makes a snap of one, in `snapFolder`, and removes it, also if there is no snap to be made. Fails where
// others are at it.
model::Result<std::filesystem::path> takeLearned(const std::filesystem::path& folder,
                                                 const std::filesystem::path& snapFolder);

}  // namespace traceback::collect
