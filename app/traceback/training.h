// Recordings that are made to be counted (traceback profile): snaps of a run, or of a process that goes on,
// one after the other.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "model/error.h"

namespace traceback::app {

struct Training {
  std::chrono::milliseconds every{1000};  // between snaps of a process that goes on
  std::function<model::Result<void>(const std::filesystem::path& snap)> take;  // it is removed behind that
};

// Runs a program, recorded, and takes snaps of it and of what it starts: now and then, and as they end. What
// goes on behind it is left to itself. Gives the program's wait status. An interrupt is the program's.
model::Result<int> trainByRun(const std::vector<std::string>& words, const Training& training);

// Takes snaps of a recorded process until it ends, the time is over (0: never is), or somebody interrupts.
model::Result<void> trainByProcess(pid_t pid, std::chrono::seconds time, const Training& training);

}  // namespace traceback::app
