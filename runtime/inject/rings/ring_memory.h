// The memory of rings' files. A file has its full size from the beginning, and memory for what a thread needs
// that begins to write; the rest comes as it gets there, for most threads never do.
#pragma once

#include <cstdint>

#include "runtime/inject/rings/ring.h"
#include "runtime/inject/rings/segment.h"

namespace traceback::inject {

// So many sub-buffers of a segment have memory when its ring is some thread's. No fewer will do: readers of a
// process that was killed within a step (ring.h) tell by them whether that was done.
inline constexpr std::uint32_t kFirstSubBuffers = 2;

// And of each of these their last words alone, in which most threads' records have room. What is before them
// reads as zeroes, as if it had been left out, until they are used again.
inline constexpr std::uint32_t kFirstWords = 1024;

Ring::Memory memoryOf(const Ring& ring);
// None: of a file that is new.
void setMemory(Ring& ring, Ring::Memory memory);

constexpr bool isFrontless(std::uint32_t frontless, unsigned segment) {
  return (frontless >> segment & 1) != 0;
}
// Of the calling thread's ring: whether that segment is so still; and gives it all of its first sub-buffers.
// Where there is no memory for that it stays as it is.
bool lacksFronts(const SegmentHeader& segment);
void bringInFronts(const SegmentHeader& segment);

// Memory for a part of a mapped ring, all pages of it at once. False if there is none, or if it cannot be
// asked for.
bool bringIn(const Ring& ring, void* start, std::uint64_t size);
// The same for a sub-buffer of the calling thread's ring.
bool bringIn(Word* front, std::uint32_t words);

}  // namespace traceback::inject
