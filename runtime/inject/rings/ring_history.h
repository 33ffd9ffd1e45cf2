// The coarse history (history.h) of a thread's ring.
#pragma once

#include <cstdint>

#include "runtime/inject/rings/ring.h"
#include "runtime/inject/rings/segment.h"
#include "runtime/inject/rings/thread.h"

namespace traceback::inject {

// What the user wants, in bytes, as far as that is possible; 0: none.
std::uint64_t chosenHistorySize();

// Gives a mapped ring what memory startHistory() needs; all that its history may need. False if there is
// none.
bool beginHistoryMemory(Ring& ring);
bool bringInHistory(Ring& ring);

// Puts it at the end of a new ring, and into its header.
void startHistory(const Ring& ring);

// When keepHistory() is to be called first for such a ring.
HistoryPace historyPace(const Ring& ring);

// Call before a head gets the main segment's next word: if that overwrites records, it may be time to sum
// them up. Sets when it need be called again (Thread::history).
void keepHistory(Thread& thread, const SegmentHeader& segment);

}  // namespace traceback::inject
