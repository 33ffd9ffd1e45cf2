// The files of rings: made, mapped, named anew.
#pragma once

#include <cstdint>

#include "runtime/inject/kernel/system.h"
#include "runtime/inject/rings/ring.h"

namespace traceback::inject {

// Small, as all that may stand on a signal's stack.
using RingName = Text<48>;
RingName fileName(const Ring& ring);

// Makes the ring's file and maps it, with what memory a thread needs that begins to write; with the present
// contents, in the present place, and with all memory if it is mapped already. With `former`, gives the file
// of that name, of the same size, the ring's name instead, and leaves it where it is mapped, if it is; if
// that fails, it is as it was.
bool mapRing(Ring& ring, std::uint64_t size, const char* former = nullptr);

// Whether a ring that was some thread's is mapped, and still there: the program may have unmapped it, and
// have something of its own in its place.
bool isStillMapped(const Ring& ring);

// Makes and maps a file without memory, or with, if that cannot be had later. Room is left for `count` of
// them. False where there should be no more.
bool mapReserve(Ring& ring, std::uint64_t size, unsigned count, bool allocated);

// Gives a part of a mapping the memory of its file. False if there is none.
bool allocateMapped(void* start, std::uint64_t size);

// Of a ring whose thread ended: it stays mapped, for the next one to find it there, but not locked in memory;
// nor does it stay where the program may have only so many addresses.
void restRing(Ring& ring);
void unmapRing(Ring& ring);

}  // namespace traceback::inject
