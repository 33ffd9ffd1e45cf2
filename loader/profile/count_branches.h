// Counts in a snap which way branches went, and where records began.
#pragma once

#include <cstdint>
#include <filesystem>

#include "model/branch_profile.h"
#include "model/error.h"

namespace traceback::loader {

struct BranchCounting {
  std::uint64_t records = 0;  // that were counted
  std::uint64_t withoutMap = 0;  // of modules whose map is missing, or that have no build id
  std::uint64_t uncounted = 0;  // that the recording had no room to count by what they were
};

// Adds what the threads' rings have, and the counts or samples of the time before (runtime/format/history.h).
// A ring's newest record is left out: its path may not have been gone to the end. An error names the file.
model::Result<BranchCounting> countBranches(const std::filesystem::path& snap, model::BranchProfile& profile);

}  // namespace traceback::loader
