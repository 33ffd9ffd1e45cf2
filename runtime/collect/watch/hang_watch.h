// Threads of a running process that wait for each other for ever, as seen from outside.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/collect/watch/thread_wait.h"

namespace traceback::collect {

// The line of /proc/PID/task/TID/syscall.
struct SystemCall {
  bool running = false;  // it is on a processor, or waits for one: the rest says nothing
  long number = -1;      // -1: it waits outside of a system call, such as for a page
  std::uint64_t arguments[3] = {};
  std::uint64_t stackPointer = 0, programCounter = 0;
  friend bool operator==(const SystemCall&, const SystemCall&) = default;
};
// Nothing if the process may not be looked at: those of its user may, as Yama allows it.
std::optional<SystemCall> systemCallOf(pid_t pid, pid_t tid);

// What the thread is in, as `before` and then `now` say it: a call that was interrupted, and went on where it
// had been, has the number of restart_syscall(2) now, whichever it is.
SystemCall asItBegan(const SystemCall& before, SystemCall now);

// Whom the thread waits for, if it waits for another one.
std::optional<ThreadWait> waitOf(pid_t pid, const SystemCall& call, const std::vector<pid_t>& threads);

// A thread that waits, as its system call tells, without being stopped for that.
struct WaitingThread {
  pid_t tid = 0;
  ThreadWait wait;
  std::uint64_t object = 0;  // the address that it waits at
  std::uint64_t stackPointer = 0;
  friend bool operator==(const WaitingThread&, const WaitingThread&) = default;
};

// Those of a process, by tid.
std::vector<WaitingThread> waitingThreads(pid_t pid);

// Those of them that wait, in the end, for themselves.
std::vector<WaitingThread> deadlocked(const std::vector<WaitingThread>& waiting);

// Why a process is to be snapped that goes on.
struct Finding {
  pid_t tid = 0;
  std::string occasion;
};

// Looks again and again whether the same threads wait for each other.
class HangDetector {
 public:
  using Clock = std::chrono::steady_clock;
  // Each set of threads is told once.
  std::optional<Finding> look(pid_t pid, Clock::time_point now, Clock::duration patience);

 private:
  std::vector<WaitingThread> m_last, m_told;
  Clock::time_point m_since{};
};

}  // namespace traceback::collect
