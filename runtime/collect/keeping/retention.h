// How many snaps are kept, and for how long.
#pragma once

#include <filesystem>

#include "runtime/collect/snap/recover.h"

namespace traceback::collect {

// Removes snaps of a folder until the limits hold, the oldest first; never `newest`, which was just written,
// and nothing but regular files of the caller's own that are named as snaps are. Whatever cannot be removed
// stays.
// And of those that were never finished nothing that is older than an hour.
void keepWithin(const std::filesystem::path& folder, const SnapLimits& limits,
                const std::filesystem::path& newest);

}  // namespace traceback::collect
