// Watching a process from beside it, for what its policy wants to have snapped of threads that do not get on.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "model/error.h"
#include "runtime/collect/snap/recover.h"

namespace traceback::collect {

// What is watched for if `patience` is not zero: for so long it must have been so.
struct ThreadPatience {
  std::chrono::milliseconds patience{};
  std::string threadName;  // empty: the first thread for stalls, all for waits
};

struct WatchOptions {
  std::filesystem::path processFolder;
  std::chrono::milliseconds hang{};  // threads that wait for each other
  ThreadPatience stall;  // stall_watch.h
  ThreadPatience wait;  // reply_watch.h
  SnapOptions snap;
  // With the sentence that says why.
  std::function<void(const std::string&, const model::Result<std::filesystem::path>&)> onSnap;
};

// What a process that lives beside the program does first: leaves its session, its folder, and its input and
// output, for whose end somebody may wait.
void detachFromProgram();

// Until the process ends or executes another program: snaps it once for each thing found.
void watchProcess(pid_t pid, const WatchOptions& options);

}  // namespace traceback::collect
