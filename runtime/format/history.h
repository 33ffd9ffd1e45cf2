// The coarse history: what a thread did before its exact trace begins, minutes back.
//
// It is the last part of a ring file (RingHeader::historyOffset; 0 where it was turned off, or an older
// runtime wrote the file). When the oldest sub-buffer of segment 0 is about to be overwritten, and some
// time has passed since the last that was looked into, a sample of its DAG records is counted into an
// entry of level 0. What handlers wrote (segments 1 and on) is not in it.
//
//   HistoryHeader | HistoryEntry[entriesEach] of level 0 | of level 1 | ... of level kHistoryLevels - 1
//
// Each level is a ring of entries, the one with number n in slot (n - 1) % entriesEach. Entries of level 0
// follow each other without a hole: each reaches from where the one before it ended. Whenever kHistoryMerged
// more of a level are complete, these become one of the next level; so each level reaches that many times
// further back, and says it that much more coarsely. The newest are in the lower levels only.
//
// What an entry says is exact, but it is of a sample: `looked` of its sub-buffers were looked into, there
// `sampled` records were read, and each code was found at least as often as its count says. (It may have been
// found more often where merged entries had no room for it: the difference is within `others`.)
// The sum of all counts and `others` is `sampled`. What was not looked at may hold anything.
//
// An entry is written in place: its number is 0 while it is, and is counted in `written` after that. So
// whatever the moment at which the process dies, an entry is whole if its number fits its slot and is
// counted. (Where a ring had another thread before, entries of that are not.) Codes are never given to
// another module in the life of a process, so a code says by itself whose it is.
//
// For profiles there is a table behind the levels (`countSlots` is not 0 then):
//
//   HistoryHeader | levels, if there are any | HistoryCount[countSlots]
//
// Where everything is to be counted (`history counts` in a policy) there are no levels, and each DAG record
// of each sub-buffer of segment 0 is counted when that is overwritten; what is still in the ring is not. Else
// (TRACEBACK_LEARN) it is a part of them, one of about a hundred, without regard to what they are. A slot
// with record 0 is free. Records that found no slot, or lost theirs, are counted in countOthers, without a
// name.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "runtime/format/record.h"
#include "runtime/format/ring.h"

namespace traceback::format {

inline constexpr std::uint32_t kHistoryVersion = 1;
inline constexpr unsigned kHistoryLevels = 6;
inline constexpr unsigned kHistoryMerged = 8;
inline constexpr unsigned kHistoryCodes = 56;
inline constexpr unsigned kHistoryTallySlots = 512;

struct HistoryCount {
  Word record;  // a DAG record (record.h) with the path as it was found; 0: none here, nor behind it
  std::uint32_t times;
};
static_assert(sizeof(HistoryCount) == 8);

struct HistoryEntry {
  std::uint64_t number;  // of its level, from 1; 0: not written yet, or not to the end
  std::uint64_t firstOrdinal, lastOrdinal;  // of the sub-buffers of segment 0 that it stands for
  std::uint64_t firstTime, lastTime;  // when the first of these began and the last one ended; as Timestamp
  std::uint64_t sampled;  // DAG records that were read
  std::uint64_t others;  // of these, the ones that are not among the counts
  std::uint32_t looked;  // sub-buffers that were looked into: the last one of each entry of level 0
  std::uint32_t reserved;
  HistoryCount counts[kHistoryCodes];  // in no order
};
static_assert(sizeof(HistoryEntry) == 512);

struct HistoryHeader {
  std::uint32_t version;
  std::uint32_t headerSize;  // where level 0 begins, from here
  std::uint32_t entrySize;
  std::uint32_t levels;
  std::uint32_t entriesEach;  // in each level
  std::uint32_t merged;  // kHistoryMerged
  std::uint64_t written[8];  // entries of each level, since the thread's start
  // The rest is the runtime's alone, but for countSlots and countOthers.
  std::uint64_t lastTicks;  // of the processor's counter, when a sub-buffer was last looked into
  std::uint64_t lastProcessorTime;  // of the thread, then
  std::uint64_t random;
  std::uint64_t countSlots;  // of the table, a power of two; 0: there is none
  std::uint64_t countOthers;
  HistoryCount tally[kHistoryTallySlots];
};
static_assert(sizeof(HistoryHeader) == 128 + sizeof(HistoryCount) * kHistoryTallySlots &&
              sizeof(HistoryHeader) % 64 == 0);

// Entries of each level in a history of so many bytes.
constexpr std::uint64_t historyEntries(std::uint64_t bytes) {
  return bytes < sizeof(HistoryHeader)
             ? 0
             : (bytes - sizeof(HistoryHeader)) / (kHistoryLevels * sizeof(HistoryEntry));
}

inline constexpr std::uint64_t kDefaultHistorySize = 128 << 10;
inline constexpr std::uint64_t kLeastHistorySize = 64 << 10;
inline constexpr std::uint64_t kMostHistorySize = 16 << 20;
static_assert(historyEntries(kLeastHistorySize) > 2 * kHistoryMerged);

// Slots of a history of so many bytes that counts everything; 0 if there is no room for one.
constexpr std::uint64_t historyCountSlots(std::uint64_t bytes) {
  return bytes < sizeof(HistoryHeader)
             ? 0
             : std::bit_floor((bytes - sizeof(HistoryHeader)) / sizeof(HistoryCount));
}
// Room for half a million different records.
inline constexpr std::uint64_t kCountingHistorySize = (4 << 20) + (8 << 10);
static_assert(historyCountSlots(kCountingHistorySize) == 1 << 19);
// Of the table behind the levels.
inline constexpr std::uint64_t kLearningSlots = 1 << 15;
inline constexpr std::uint64_t kLearningSize = kLearningSlots * sizeof(HistoryCount);

}  // namespace traceback::format
