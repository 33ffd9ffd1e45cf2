// Threads and their rings: each gets one at its first traced code.
#pragma once

#include "runtime/inject/rings/ring.h"
#include "runtime/inject/rings/segment.h"
#include "runtime/inject/rings/thread.h"

namespace traceback::inject {

// Gives a thread on probation its ring and points its slot at it. If that fails, at its discard segment.
void attach(Thread& thread);

// For a thread that found no ring: tries again if one has become free since. Call at a head, outside of
// signal handlers.
void attachLate(Thread& thread);

// The thread's destructors run: writes its end and lets it discard from now on.
void threadEnds();
// Arranges for threadEnds() to be called in every thread that has a ring. Called once, at the start.
bool watchThreadEnds();

// The segment of a handler level; the discard segment for levels that have none.
SegmentHeader* segmentOf(Thread& thread, unsigned level);

}  // namespace traceback::inject
