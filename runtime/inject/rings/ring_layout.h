// What lies where in the file of a ring (runtime/format/ring.h).
#pragma once

#include <cstdint>

#include "runtime/inject/rings/ring.h"

namespace traceback::inject {

// Of a whole file, in bytes, the coarse history included; and what memory it takes when all is written. A
// file is mapped at the front of a window (runtime/format/ring.h), and what lies between its sub-buffers has
// no memory.
std::uint64_t ringSize();
std::uint64_t ringMemory();

// Gives a mapped ring, whose header has memory, what startRing() needs besides, and whatever is written
// before more can be asked for. False if there is none.
bool beginMemory(Ring& ring);

// All of it. Not where the program filters its system calls.
bool bringInWhole(Ring& ring);

// Makes a mapped ring that of the thread Ring::tid. `late`: it has run traced code before, which nobody
// recorded.
void startRing(Ring& ring, bool late);

}  // namespace traceback::inject
