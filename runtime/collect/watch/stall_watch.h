// Threads of a running process that show no life, as seen from outside.
//
// A thread shows life when it is seen waiting for something to do (epoll_wait, accept, a read from a socket,
// a sleep: waitsForWork()), or to have blocked and come back since it was last looked at. A thread that joins
// another one is as alive as that one. So what stalls is a thread that runs on and on without ever waiting,
// and one that stays in one and the same wait which is not for something to do: a lock, a condition, a disk.
// A program that is stopped by a signal or a debugger shows life, for it is not its fault. What waits for an
// answer out of a socket or from a child looks like what waits for work; what tries again and again looks
// alive.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/collect/watch/hang_watch.h"

namespace traceback::collect {

// Whether a thread in this call waits for what comes from outside, or for a time. `descriptorPath` is what
// the call's first argument leads to, if that is a descriptor, as /proc/PID/fd says it.
bool waitsForWork(long systemCall, const std::string& descriptorPath);

// As the kernel has it; empty if there is no such thread.
std::string threadName(pid_t pid, pid_t tid);

struct ThreadLife {
  char state = '?';  // field 3 of /proc/PID/task/TID/stat
  std::uint64_t waits = 0;  // how often it blocked
  std::optional<SystemCall> call = {};
  std::optional<std::uint64_t> position = {};  // in its ring: how many words were written
  std::string descriptorPath = {};

  // By a signal, or by a debugger.
  bool isStopped() const { return state == 'T' || state == 't'; }
  // It is the same thread's that was seen as `before`, so a call may be that one, begun anew.
  void continues(const ThreadLife& before);
};
// Nothing if there is no such thread.
std::optional<ThreadLife> lifeOf(pid_t pid, pid_t tid, const std::string& processFolder);

// Whether a thread that was seen as `before` and is seen as `now` has shown life. Where nothing can be known,
// it has.
bool showsLife(const ThreadLife& before, const ThreadLife& now);

// A thread that was stopped may have to be given a processor before it is back in its call: so many looks.
inline constexpr int kLooksToReturn = 2;

class StallDetector {
 public:
  using Clock = std::chrono::steady_clock;
  struct Request {
    pid_t pid = 0;
    std::string processFolder;
    std::string threadName;  // empty: the first thread
    Clock::duration patience{};
  };
  // Looks at the threads that are meant. Each time of silence is told once.
  std::optional<Finding> look(const Request& request, Clock::time_point now);
  // The threads were stopped and went on, which looks like life at the next looks and is none.
  void wereStopped();
  // How long the quietest of them has been silent.
  Clock::duration silence(Clock::time_point now) const;

 private:
  struct Watched {
    ThreadLife life;  // as last seen
    std::uint64_t start = 0;  // in its ring, when it was last alive
    Clock::time_point alive{};
    bool told = false;
    int returns = 0;  // looks by which it is back in what it did, since it was stopped
  };
  static Watched afterLook(const Watched& known, ThreadLife&& life, Clock::time_point now);
  std::map<pid_t, Watched> m_threads;
};

}  // namespace traceback::collect
