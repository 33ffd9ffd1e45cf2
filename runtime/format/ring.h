// The ring file: where one thread's records live, and outlive the process.
//
// One file a thread, mapped shared by the traced process, on a memory file system. It holds a header
// page and then up to kMaxSegments segments. Segment 0 is the thread's main ring; segment n takes the
// records of signal handlers at nesting level n, so that a handler never writes where the code that it
// interrupted was about to (its SignalBegin record says where that was).
//
// A segment is a ring of sub-buffers of subBufferWords words each, subBufferStride words from front to front.
// Each ends where a window does, 64 KiB of addresses of the process from a multiple of as many. The cursor
// names the word last written. A head probe steps it, writes its record there, and stores it; where the step
// overflows the cursor's low sixteen bits the sub-buffer is full, and it calls the runtime first, which
//
//   1. stores the ordinal of the sub-buffer after it (the oldest) in `ordinal` (a release store),
//   2. writes a time stamp at its front, in a handler's segment its SignalBegin once more (kSignalContinued),
//      and puts the cursor on that record's last word.
//
// A file has room for all sub-buffers, and memory for those that were begun and the next. Where there is none
// for that, subBufferCount becomes the number of those that there are, before any of them is used again; so
// `ordinal % subBufferCount` names the same ones as before.
//
// A sub-buffer that the runtime leaves early, as a record of several words does not fit in, it fills up with
// zeroes, before the first step. In their first use, sub-buffers may begin with zeroes, too, for which the
// file has no memory. The cursor comes to stand behind the whole of such a record at once.
//
// So whatever the moment at which the process dies, the sub-buffer `ordinal % subBufferCount` holds whole
// records from its front up to the cursor's word, or nothing yet if the cursor is still in the one before it;
// and the ones before it (as many as were ever begun, at most subBufferCount - 1) are full up to their end,
// or up to zeroes. What lies behind the cursor means nothing: words of the sub-buffer that was there before,
// perhaps a record that was not claimed any more.
//
// Up to version 2 the last word of a sub-buffer was a sentinel, for which probes looked. They lay side by
// side (subBufferStride is 0), wherever the segment did.
//
// Version 1 claimed first: the cursor was stepped before the word was written, which is zero if the process
// died in between. So sub-buffers were zeroed before `ordinal` was stored, and the one in use ended at its
// first zero word, at worst within the last record; the oldest might have been just being zeroed.
//
// A position names a word for ever: ordinal * subBufferWords + index within the sub-buffer. It grows with
// time within a segment.
//
// Probes reach the segment in use through the word at %fs:kThreadSlot (or further below: threadSlotBeside()),
// which holds the address of its SegmentHeader; `cursor` is that structure's first field. (ARCHITECTURE.md:
// "Where the cursor lives".)
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/format/record.h"

namespace traceback::format {

inline constexpr std::uint64_t kRingMagic = 0x0A0D'474E'4952'4254;  // "TBRING\r\n"
inline constexpr std::uint32_t kRingVersion = 3;
inline constexpr std::uint32_t kOldestRingVersion = 1;
inline constexpr std::uint32_t kFirstVersionWithWindows = 3;
inline constexpr std::uint32_t kRingHeaderSize = 4096;
inline constexpr unsigned kMaxSegments = 4;
inline constexpr std::uint64_t kWindowSize = 1 << 16;
// Whether a cursor stands at the last word of a window.
constexpr bool isAtWindowEnd(std::uint64_t cursor) { return (cursor + sizeof(Word)) % kWindowSize == 0; }

// Offsets from the thread pointer. The runtime's thread-local block is kThreadBlockSize bytes whose
// initial image is the probation segment's address in every word, so the word at kThreadSlot means that
// wherever the loader put the block, as long as the thread-local storage before it leaves that place free.
// The words after the slot are the probes' spill slots.
inline constexpr std::int32_t kThreadSlot = -4096;
inline constexpr std::int32_t kFirstSpill = 8;  // of kSpillSlots, from the slot
inline constexpr std::int32_t kSpillSlot = kThreadSlot + kFirstSpill;
inline constexpr unsigned kSpillSlots = 4;
inline constexpr std::uint32_t kThreadSlotBytes = 8 * (1 + kSpillSlots);  // with the spill slots
inline constexpr std::uint32_t kThreadBlockSize = 4096, kThreadBlockAlignment = 64;

// Where the slot is beside a program's own thread-local storage (PT_TLS), which lies right below the thread
// pointer (ELF handling for thread-local storage, 3: variant II): kThreadSlot, or as much further below as
// the program needs. 0 if it needs more than there can be. `alignment`: a power of two, or 0.
constexpr std::int32_t threadSlotBeside(std::uint64_t size, std::uint64_t alignment) {
  constexpr std::uint64_t kMostBefore = -kThreadSlot - kThreadSlotBytes, kMost = 1 << 22;
  const std::uint64_t unit = alignment > kThreadBlockAlignment ? alignment : kThreadBlockAlignment;
  if (size > kMost || unit > kMost) return 0;
  const std::uint64_t before = (size + unit - 1) / unit * unit;
  return before <= kMostBefore ? kThreadSlot
                               : -static_cast<std::int32_t>(before + std::uint64_t{kThreadBlockSize});
}

struct SegmentHeader {
  std::uint64_t cursor;  // address, in the process, of the word last written
  std::uint64_t base;  // address, in the process, of the segment's first word
  std::uint64_t ordinal;  // of the sub-buffer in use; counts from 0 and never wraps
  std::uint32_t subBufferWords;  // a sentinel included
  std::uint32_t subBufferCount;
  std::uint64_t fileOffset;  // of the segment's first word
  std::uint32_t subBufferStride;  // words
  // Of a signal's segment, while its handler runs: one more than the place of the latest SignalBegin, in
  // words from the first. 0: none.
  std::uint32_t latestSignal;
  std::uint64_t step[2];  // kCursorStep and 0, for probes that keep the cursor in a vector register
};
static_assert(sizeof(SegmentHeader) == 64 && offsetof(SegmentHeader, cursor) == 0 &&
              offsetof(SegmentHeader, step) % 16 == 0);
inline constexpr std::uint64_t kCursorStep = sizeof(Word);

constexpr std::uint64_t strideOf(const SegmentHeader& segment) {
  return segment.subBufferStride != 0 ? segment.subBufferStride : segment.subBufferWords;
}
// Words from the first one's front to the last one's end; of a header that makes sense.
constexpr std::uint64_t extentOf(const SegmentHeader& segment) {
  return strideOf(segment) * (segment.subBufferCount - 1) + segment.subBufferWords;
}
// Both count words from the segment's first: the one that the cursor is on, and a sub-buffer's front.
constexpr std::uint64_t cursorIndex(const SegmentHeader& segment) {
  return (segment.cursor - segment.base) / sizeof(Word);
}
constexpr std::uint64_t frontIndex(const SegmentHeader& segment, std::uint64_t ordinal) {
  return ordinal % segment.subBufferCount * strideOf(segment);
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
  // Where another thread, having met a fatal signal, saw this one: the position of the cursor in that
  // segment, read at that time (TSC; 0 if there was none). What the word there belongs to had begun, and
  // nothing behind it.
  std::uint64_t seenTime, seenPosition;
  std::uint32_t seenLevel;
  std::uint8_t reserved[20];
  SegmentHeader segments[kMaxSegments];
};
static_assert(sizeof(RingHeader) == 128 + 64 * kMaxSegments && sizeof(RingHeader) <= kRingHeaderSize);

}  // namespace traceback::format
