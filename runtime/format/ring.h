// The ring file: where one thread's records live, and outlive the process.
//
// One file a thread, mapped shared by the traced process, on a memory file system. It holds a header
// page and then up to kMaxSegments segments. Segment 0 is the thread's main ring; segment n takes the
// records of signal handlers at nesting level n, so that a handler never writes where the code that it
// interrupted was about to (its SignalBegin record says where that was).
//
// A segment is a ring of sub-buffers. Each sub-buffer is subBufferWords words, the last of which is the
// sentinel. A head probe steps the cursor, and where that lands on a sentinel it calls the runtime, which
//
//   1. zeroes the sub-buffer after it (the oldest) but for the sentinel,
//   2. stores its ordinal in `ordinal` (a release store),
//   3. puts the cursor on its first word, or behind a record that it writes there first.
//
// The words of a record of more than one word are written in order, so the last of the sub-buffer in use may
// lack some of its payload when the process dies. So whatever the moment at which the process dies, the
// sub-buffer `ordinal % subBufferCount` holds its records from the front up to the first zero word, and the
// ones before it (as many as were ever begun, at most subBufferCount - 1) are full up to their sentinel, or
// up to a zero word where the runtime ended one early. The cursor points at the word last claimed: it is zero
// if the process died between the claim and the write.
//
// A position names a word for ever: ordinal * subBufferWords + index within the sub-buffer. It grows with
// time within a segment.
//
// Probes reach the segment in use through the word at %fs:kThreadSlot, which holds the address of its
// SegmentHeader; `cursor` is that structure's first field. (ARCHITECTURE.md: "Where the cursor lives".)
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/format/record.h"

namespace traceback::format {

inline constexpr std::uint64_t kRingMagic = 0x0A0D'474E'4952'4254;  // "TBRING\r\n"
inline constexpr std::uint32_t kRingVersion = 1;
inline constexpr std::uint32_t kRingHeaderSize = 4096;
inline constexpr unsigned kMaxSegments = 4;

// Offsets from the thread pointer. The runtime's thread-local block is kThreadBlockSize bytes whose
// initial image is the probation segment's address in every word below kThreadSlotsSize, so the word at
// kThreadSlot means that wherever the loader put the block, as long as the thread-local storage before it
// is at most kMaxTlsBefore bytes. The words after the slot are the probes' spill slots.
inline constexpr std::int32_t kThreadSlot = -4096;
inline constexpr std::int32_t kSpillSlot = kThreadSlot + 8;  // the first of kSpillSlots
inline constexpr unsigned kSpillSlots = 4;
inline constexpr std::uint32_t kThreadBlockSize = 4096;

struct SegmentHeader {
  std::uint64_t cursor;  // address, in the process, of the word last claimed
  std::uint64_t base;  // address, in the process, of the segment's first word
  std::uint64_t ordinal;  // of the sub-buffer in use; counts from 0 and never wraps
  std::uint32_t subBufferWords;  // the sentinel included
  std::uint32_t subBufferCount;
  std::uint64_t fileOffset;  // of the segment's first word
  std::uint64_t reserved;
  std::uint64_t step[2];  // kCursorStep and 0, for probes that keep the cursor in a vector register
};
static_assert(sizeof(SegmentHeader) == 64 && offsetof(SegmentHeader, cursor) == 0 &&
              offsetof(SegmentHeader, step) % 16 == 0);
inline constexpr std::uint64_t kCursorStep = sizeof(Word);

// Both count words from the segment's first: the one that the cursor is on, and a sub-buffer's front.
constexpr std::uint64_t cursorIndex(const SegmentHeader& segment) {
  return (segment.cursor - segment.base) / sizeof(Word);
}
constexpr std::uint64_t frontIndex(const SegmentHeader& segment, std::uint64_t ordinal) {
  return ordinal % segment.subBufferCount * segment.subBufferWords;
}

enum class RingState : std::uint32_t { InUse = 1, ThreadEnded = 2 };

struct RingHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t headerSize;  // kRingHeaderSize; the first segment may start after it
  std::uint32_t pid;
  std::uint32_t tid;
  std::uint64_t processStart;  // field 22 of /proc/PID/stat: with the pid it names the process
  std::uint64_t threadStart;  // TSC
  std::uint32_t state;  // RingState
  std::uint32_t segmentCount;
  std::uint32_t level;  // the segment in use
  std::uint32_t signalSequence;  // signals begun so far
  std::uint8_t name[16];  // the thread's, zero-padded, as of the ring's making
  std::uint32_t held;  // 1 while the thread waits, at the end of a sub-buffer, for a snap to be made
  std::uint32_t historySize;  // bytes
  std::uint64_t historyOffset;  // in the file, of the coarse history (history.h); 0 if there is none
  std::uint8_t reserved[40];
  SegmentHeader segments[kMaxSegments];
};
static_assert(sizeof(RingHeader) == 128 + 64 * kMaxSegments && sizeof(RingHeader) <= kRingHeaderSize);

}  // namespace traceback::format
