// Watching a process for threads that wait for each other for ever.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "model/error.h"
#include "runtime/collect/recover.h"
#include "runtime/collect/thread_wait.h"

namespace traceback::collect {

// A thread that waits, as its system call tells, without being stopped for that.
struct WaitingThread {
  pid_t tid = 0;
  ThreadWait wait;
  std::uint64_t object = 0;  // the address that it waits at
  std::uint64_t stackPointer = 0;
  friend bool operator==(const WaitingThread&, const WaitingThread&) = default;
};

// Those of a process that may be looked at: its user's, and as Yama allows it. By tid.
std::vector<WaitingThread> waitingThreads(pid_t pid);

// Those of them that wait, in the end, for themselves.
std::vector<WaitingThread> deadlocked(const std::vector<WaitingThread>& waiting);

struct WatchOptions {
  std::chrono::milliseconds patience{};  // for so long the same threads must have waited for each other
  SnapOptions snap;
  std::function<void(const model::Result<std::filesystem::path>&)> onSnap;
};

// What a process that lives beside the program does first: leaves its session, its folder, and its input and
// output, for whose end somebody may wait.
void detachFromProgram();

// Until the process ends or executes another program: snaps it when it hangs, once for each set of threads.
void watchForHangs(pid_t pid, const WatchOptions& options);

}  // namespace traceback::collect
