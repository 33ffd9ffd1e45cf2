// Threads that have the thread-local storage of another one, and with that its slot: made by a raw clone that
// gave them none of their own. Two that write to one ring would make one lie of two truths. So for as long as
// there are such, whoever has that storage runs untraced, at the end of a window (as on probation, thread.h);
// the ring has a Gap there.
#pragma once

#include <cstdint>

#include "runtime/inject/rings/thread.h"

namespace traceback::inject {

// Before the calling thread makes one, or once one is met.
void beginSharing();
// It has this number, and is a thread of the process or is not; 0: none was made.
void learnSharer(std::uint32_t tid, bool ofProcess);

// At the end of a sub-buffer: if the calling thread is not the one that the ring is of, begins to share.
// `stackPointer` is the traced function's.
void noticeSharing(Thread& thread, std::uint64_t stackPointer);
// Whether to look again: it takes a system call, so if the last time is a millisecond ago, or was on another
// stack.
bool isTimeToNotice(const Thread& thread, std::uint64_t stackPointer);
// Looks, but begins nothing: false if the thread has to.
bool hasItsOwnRing(Thread& thread, std::uint64_t stackPointer);

// At a head of a thread that shares: a cursor to write behind, or null if it no longer does.
Word* cursorOfSharer(Thread& thread);

}  // namespace traceback::inject
