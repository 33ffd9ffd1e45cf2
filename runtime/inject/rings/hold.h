// While a snap is made nothing is overwritten: a thread that runs on until it is stopped from outside stops
// by itself at the next sub-buffer's end, and its ring says so.
#pragma once

#include "runtime/inject/rings/segment.h"
#include "runtime/inject/rings/thread.h"

namespace traceback::inject {

// Holds all threads but the one that made it, for as long as it lives. Several may.
class Hold {
 public:
  Hold();
  ~Hold();
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
};

// Whether anybody holds others just now.
bool areAnyHeld();

// Waits while others are held, if the next `words` words of the segment would overwrite older ones. Not with
// a lock that whoever holds might want.
void stopIfHeld(Thread& t, const SegmentHeader& segment, unsigned words);

// In a forked child: whoever held is not here.
void forgetHolds();

}  // namespace traceback::inject
