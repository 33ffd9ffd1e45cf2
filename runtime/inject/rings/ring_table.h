// The rings of the process: who has which, and how many there may be. Called with the process's lock, but
// where the program filters its system calls: nobody may block signals then.
#pragma once

#include "runtime/inject/rings/ring.h"

namespace traceback::inject {

inline constexpr unsigned kMaxRings = 1024;      // of threads that run at one time
inline constexpr unsigned kUsualRings = 256;     // unless somebody says otherwise
inline constexpr unsigned kMaxEndedRings = 64;   // of threads that ended: the oldest go first
inline constexpr unsigned kMostReserved = 128;
inline constexpr unsigned kMostAllocated = 8;  // of the reserve

// For the calling thread; null if there is none. `late` as startRing() has it.
Ring* makeRing(bool late);

// Of a thread that ended. What it recorded stays to be looked at; and mapped, if it may have to be the next
// one's as it is.
void endRing(Ring& ring);
// Likewise, but what is mapped there may be the program's by now.
void loseRing(Ring& ring);
// Writes into the rings of all other threads where these are just now (RingHeader::seenTime), of as many as
// can be told without waiting. Takes the lock itself, if that is free; not where system calls are filtered.
void noteWhereOthersAre(const Ring* own);
// How often a ring's thread ended: if more did, there may be a ring for another one. For any thread.
std::uint32_t endedRings();

// For threads that begin when no file can be made any more (another root folder, another user), or no system
// call (`allocated`): makes rings that take address space alone, or are allocated, too, and fewer. Takes the
// lock, as do the two at the end.
void reserveRings(bool allocated);

// In a forked child: the parent's rings are not ours.
void forgetRings();

// Before another program is executed: takes the files away, if only this thread has a ring and none has
// ended. For a shell's children are many, and what they recorded would stay in memory. True if it did.
bool withdrawFiles();
// It was not executed: puts the files back as they were.
void restoreFiles();

}  // namespace traceback::inject
