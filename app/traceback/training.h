// Recordings that are made to be counted (traceback profile): snaps of a run, which counts every record, or
// of a process that goes on, one after the other.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "model/error.h"

namespace traceback::app {

// Is given each snap, which is removed behind that.
using TakeSnap = std::function<model::Result<void>(const std::filesystem::path& snap)>;

// Runs a program, recorded, and takes snaps of it and of what it starts, as they end, however they do. What
// goes on behind it is counted so far, and left to itself. Gives the program's wait status. An interrupt is
// the program's, and so is a signal to end.
model::Result<int> trainByRun(const std::vector<std::string>& words, const TakeSnap& take);

// Takes snaps of a recorded process now and then until it ends, the time is over (0: never is), or somebody
// interrupts.
model::Result<void> trainByProcess(pid_t pid, std::chrono::seconds time, std::chrono::milliseconds every,
                                   const TakeSnap& take);

}  // namespace traceback::app
