// The process's rings (runtime/format/ring.h): a thread gets one at its first traced code.
#pragma once

#include <cstdint>

#include "runtime/inject/rings/segment.h"
#include "runtime/inject/rings/thread.h"

namespace traceback::inject {

struct Ring {
  format::RingHeader* header;
  std::uint64_t size;
  std::uint64_t historySize;  // of the coarse history, which is the last part of it; 0: none is kept
  std::uint32_t nameTid,
      number;  // the file's name: of the thread that it was made for, 0 if for none; counts
  std::uint32_t tid;
  std::uint32_t order;  // in which threads took theirs
  bool allocated;  // its memory
  // Of a thread that ended: to be looked at, and mapped as long as `header` is not null. Reserved: of none
  // yet.
  enum class Use : std::uint32_t { Free, Making, Reserved, Live, Ended } use;
};

inline constexpr unsigned kMaxRings = 1024;      // of threads that run at one time
inline constexpr unsigned kUsualRings = 256;     // unless somebody says otherwise
inline constexpr unsigned kMaxEndedRings = 64;   // of threads that ended: the oldest go first
inline constexpr unsigned kMostReserved = 128;
inline constexpr unsigned kMostAllocated = 8;  // of the reserve

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

// For threads that begin when no file can be made any more (another root folder, another user), or no system
// call (`allocated`): makes rings that take address space alone, or are allocated, too, and fewer.
void reserveRings(bool allocated);

// In a forked child: the parent's rings are not ours.
void forgetRings();

// Before another program is executed: takes the files away, if only this thread has a ring and none has
// ended. For a shell's children are many, and what they recorded would stay in memory. True if it did.
bool withdrawFiles();
// It was not executed: puts the files back as they were.
void restoreFiles();

}  // namespace traceback::inject
