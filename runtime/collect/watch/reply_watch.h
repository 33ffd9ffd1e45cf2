// Threads of a running process that wait for an answer which does not come, as seen from outside.
//
// A wait for an answer and one for work look alike: a read from a socket, a poll, a wait for a child. So it
// is the user who says that threads of this program, or of a name, do not wait for work for so long.
#pragma once

#include <map>
#include <string>

#include "runtime/collect/watch/stall_watch.h"

namespace traceback::collect {

// Whether a thread in this call waits for somebody else to say or to take something, or to end: not for a
// time, nor for whoever may come. `descriptorPath` as in waitsForWork().
bool waitsForReply(long systemCall, const std::string& descriptorPath);

class ReplyDetector {
 public:
  using Clock = StallDetector::Clock;
  // Looks at all threads, or at those of the request's name. Each wait is told once.
  std::optional<Finding> look(const StallDetector::Request& request, Clock::time_point now);
  // The threads were stopped and went on, which looks like a new wait at the next look and is none.
  void wereStopped();

 private:
  struct Watched {
    ThreadLife life;
    Clock::time_point since{};
    bool told = false;
    int returns = 0;  // looks by which it is back in its call, since it was stopped
  };
  std::map<pid_t, Watched> m_threads;
};

}  // namespace traceback::collect
