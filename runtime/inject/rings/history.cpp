#include "runtime/inject/rings/history.h"

#include "runtime/inject/kernel/system.h"
#include "runtime/inject/rings/segment.h"

namespace traceback::inject {

namespace {

using format::HistoryCount;
using format::HistoryEntry;
using format::HistoryHeader;
using format::SegmentHeader;
using format::Word;

// Of a sub-buffer parts are read, of so many adjacent words each; one for so much of the processor's time
// that the thread had since the last look. So the cost is a fixed share of it, and of a thread that fills its
// ring slowly all is read. What a look costs besides, in memory that is not in the processor's caches, is a
// few microseconds: so there are some milliseconds between them.
constexpr unsigned kWindowWords = 32;
constexpr std::uint64_t kNanosecondsAWindow = kHistoryTime / 8;
constexpr std::uint64_t kLeastWindows = 2;

static_assert(format::kHistoryTallySlots == 512);
constexpr std::uint32_t kSlotMask = format::kHistoryTallySlots - 1;

// Counts codes in a table of fixed size: buckets of eight slots, of which the least gives way to what finds
// no room. What gave way is counted without its name, so counts are too small at worst.
class Tally {
 public:
  explicit Tally(HistoryCount* slots) : m_slots(slots) {
    memset(m_slots, 0, format::kHistoryTallySlots * sizeof *m_slots);
  }

  void add(Word record, std::uint32_t times) {
    HistoryCount* const bucket = m_slots + ((record * 0x9E37'79B1u) >> 26) * kBucket;
    HistoryCount* least = bucket;
    for (HistoryCount* slot = bucket; slot != bucket + kBucket; ++slot) {
      if (slot->record == record) {
        slot->times += times;
        return;
      }
      if (slot->record == 0) {
        *slot = {record, times};
        ++m_used;
        return;
      }
      if (slot->times < least->times) least = slot;
    }
    m_others += least->times;
    *least = {record, times};
  }
  void addOthers(std::uint64_t times) { m_others += times; }

  // The most frequent ones; of equals, those from a place of the table on that differs from time to time, so
  // that many rare codes are a fair sample of all rare ones.
  void moveTo(HistoryEntry& entry, std::uint32_t start) const {
    unsigned room = format::kHistoryCodes;
    const unsigned least = m_used <= room ? 0 : leastRank(room);
    unsigned used = 0;
    std::uint64_t others = m_others;
    for (std::uint32_t i = 0; i < format::kHistoryTallySlots; ++i) {
      const HistoryCount& slot = m_slots[(start + i) & kSlotMask];
      if (slot.record == 0) continue;
      const unsigned rank = rankOf(slot.times);
      if (used != format::kHistoryCodes && (rank > least || (rank == least && room != 0))) {
        if (rank == least) --room;
        entry.counts[used++] = slot;
      } else {
        others += slot.times;
      }
    }
    for (; used < format::kHistoryCodes; ++used) entry.counts[used] = {0, 0};
    entry.others = others;
  }

 private:
  static constexpr unsigned kBucket = 8;
  static constexpr unsigned kRanks = 128;

  // Grows with the count, by four for each doubling.
  static unsigned rankOf(std::uint32_t times) {
    if (times < 4) return times;
    const auto top = static_cast<unsigned>(31 - __builtin_clz(times));
    return 4 * (top - 1) + ((times >> (top - 2)) & 3);
  }

  // All of higher ranks than this find room; of this one only what then remains of `room`.
  unsigned leastRank(unsigned& room) const {
    std::uint16_t codes[kRanks] = {};
    for (std::uint32_t i = 0; i < format::kHistoryTallySlots; ++i)
      if (m_slots[i].record != 0) ++codes[rankOf(m_slots[i].times)];
    unsigned least = kRanks - 1;
    while (least != 0 && codes[least] <= room) room -= codes[least--];
    return least;
  }

  HistoryCount* m_slots;
  std::uint32_t m_used = 0;
  std::uint64_t m_others = 0;
};

HistoryEntry& entryOf(HistoryHeader& history, std::uint64_t slots, unsigned level, std::uint64_t number) {
  auto* const entries = reinterpret_cast<HistoryEntry*>(&history + 1);
  return entries[level * slots + (number - 1) % slots];
}

// The steps of history.h: no other thread writes here, so the order of the program is that of memory.
void beginEntry(HistoryEntry& entry) {
  __atomic_store_n(&entry.number, std::uint64_t{0}, __ATOMIC_RELAXED);
  compilerBarrier();
}
void endEntry(HistoryHeader& history, unsigned level, HistoryEntry& entry, std::uint64_t number) {
  compilerBarrier();
  __atomic_store_n(&entry.number, number, __ATOMIC_RELEASE);
  __atomic_store_n(&history.written[level], number, __ATOMIC_RELEASE);
}

std::uint32_t nextRandom(HistoryHeader& history) {
  history.random = history.random * 6'364'136'223'846'793'005u + 1'442'695'040'888'963'407u;
  return static_cast<std::uint32_t>(history.random >> 33);
}

// When a sub-buffer began; 0 if it does not say.
// There may be zeroes before it (ring_memory.h).
std::uint64_t timeAtFront(const Word* front, std::uint64_t words) {
  for (const Word* const end = front + words - kTimestampWords;
       *front == format::kInvalidWord && front != end;)
    ++front;
  return format::isHeader(front[0]) && format::typeOf(front[0]) == format::RecordType::Timestamp
             ? format::valueOf(front[1], front[2], front[3])
             : 0;
}

std::uint64_t countRun(Tally& tally, const Word* at, unsigned words) {
  std::uint64_t sampled = 0;
  for (const Word* const end = at + words; at != end; ++at) {
    if (!format::isDagRecord(*at)) continue;
    tally.add(*at, 1);
    ++sampled;
  }
  return sampled;
}

// Reads `windows` parts, each at a random place of a share of its own. They are in no cache of the
// processor's, so several are asked for before the first is read.
std::uint64_t countSample(Tally& tally, const Word* front, unsigned words, unsigned windows,
                          HistoryHeader& history) {
  const unsigned share = words / windows;
  const unsigned places = share - kWindowWords + 1;
  constexpr unsigned kAhead = 8, kLineWords = 64 / sizeof(Word);
  const Word* at[kAhead];
  std::uint64_t sampled = 0;
  for (unsigned done = 0; done < windows;) {
    unsigned count = 0;
    for (; count < kAhead && done < windows; ++count, ++done) {
      at[count] = front + done * share + nextRandom(history) % places;
      for (unsigned word = 0; word < kWindowWords; word += kLineWords) __builtin_prefetch(at[count] + word);
    }
    for (unsigned i = 0; i < count; ++i) sampled += countRun(tally, at[i], kWindowWords);
  }
  return sampled;
}

// The last entries of a level become one of the next.
void mergeInto(HistoryHeader& history, std::uint64_t slots, unsigned level) {
  const std::uint64_t last = history.written[level - 1], number = history.written[level] + 1;
  HistoryEntry& entry = entryOf(history, slots, level, number);
  beginEntry(entry);
  Tally tally(history.tally);
  entry.sampled = 0;
  entry.looked = 0;
  for (std::uint64_t i = last - format::kHistoryMerged + 1; i <= last; ++i) {
    const HistoryEntry& part = entryOf(history, slots, level - 1, i);
    if (i == last - format::kHistoryMerged + 1) {
      entry.firstOrdinal = part.firstOrdinal;
      entry.firstTime = part.firstTime;
    }
    entry.lastOrdinal = part.lastOrdinal;
    entry.lastTime = part.lastTime;
    entry.sampled += part.sampled;
    entry.looked += part.looked;
    tally.addOthers(part.others);
    for (const HistoryCount& count : part.counts) {
      if (count.record == 0) break;
      tally.add(count.record, count.times);
    }
  }
  entry.reserved = 0;
  tally.moveTo(entry, nextRandom(history));
  endEntry(history, level, entry, number);
}

const Word* oldestSubBuffer(const SegmentHeader& segment) {
  const std::uint64_t ordinal = segment.ordinal + 1 - segment.subBufferCount;
  return reinterpret_cast<const Word*>(segment.base) + format::frontIndex(segment, ordinal);
}

void look(HistoryHeader& history, std::uint64_t slots, const SegmentHeader& segment, unsigned windows) {
  const std::uint64_t ordinal = segment.ordinal + 1 - segment.subBufferCount;
  const auto* const base = reinterpret_cast<const Word*>(segment.base);
  const Word* const front = oldestSubBuffer(segment);
  const std::uint64_t began = timeAtFront(front, segment.subBufferWords);
  const std::uint64_t ended =
      timeAtFront(base + format::frontIndex(segment, ordinal + 1), segment.subBufferWords);
  const std::uint64_t number = history.written[0] + 1;
  HistoryEntry& entry = entryOf(history, slots, 0, number);
  beginEntry(entry);
  entry.firstOrdinal = ordinal;
  entry.firstTime = began;
  if (number != 1) {
    const HistoryEntry& before = entryOf(history, slots, 0, number - 1);
    entry.firstOrdinal = before.lastOrdinal + 1;
    entry.firstTime = before.lastTime;
  }
  Tally tally(history.tally);
  entry.lastOrdinal = ordinal;
  entry.lastTime = ended;
  entry.looked = 1;
  entry.reserved = 0;
  const unsigned words = segment.subBufferWords;
  entry.sampled = windows < words / kWindowWords ? countSample(tally, front, words, windows, history)
                                                 : countRun(tally, front, words);
  tally.moveTo(entry, nextRandom(history));
  endEntry(history, 0, entry, number);
  for (unsigned level = 1; level < format::kHistoryLevels; ++level) {
    if (history.written[level - 1] % format::kHistoryMerged != 0) break;
    mergeInto(history, slots, level);
  }
}

// Whether the segment's next sub-buffer overwrites one.
bool overwrites(const SegmentHeader& segment) {
  return segment.subBufferCount >= 2 && segment.ordinal + 1 >= segment.subBufferCount;
}

// A table of counts.
class Counts {
 public:
  Counts(HistoryHeader& history, HistoryCount* table, std::uint64_t slots)
      : m_history(history), m_table(table), m_slots(slots) {}

  void start(bool isZero) {
    m_history.countSlots = m_slots;
    if (!isZero) memset(m_table, 0, m_slots * sizeof *m_table);
  }
  // The DAG records among these words, of which it says how many there were.
  std::uint64_t add(const Word* at, std::uint64_t words) {
    std::uint64_t records = 0;
    for (const Word* const end = at + words; at != end; ++at) {
      if (!format::isDagRecord(*at)) continue;
      ++records;
      if (HistoryCount* const slot = slotOf(*at); slot == nullptr)
        ++m_history.countOthers;
      else if (slot->times != ~std::uint32_t{0})
        ++slot->times;
    }
    return records;
  }

 private:
  HistoryCount* slotOf(Word record) {
    constexpr unsigned kTries = 16;
    std::uint64_t place = (record * 0x9E37'79B9'7F4A'7C15u) >> 32;
    for (unsigned tries = 0; tries < kTries; ++tries, ++place) {
      HistoryCount& slot = m_table[place & (m_slots - 1)];
      if (slot.record == 0) slot.record = record;
      if (slot.record == record) return &slot;
    }
    return nullptr;
  }

  HistoryHeader& m_history;
  HistoryCount* m_table;
  std::uint64_t m_slots;
};

Counts onlyCounts(HistoryHeader& history, std::uint64_t size) {
  return {history, reinterpret_cast<HistoryCount*>(&history + 1), format::historyCountSlots(size)};
}
Counts countsBehindLevels(HistoryHeader& history, std::uint64_t size) {
  HistoryEntry& end = entryOf(history, format::historyEntries(size), format::kHistoryLevels, 1);
  return {history, reinterpret_cast<HistoryCount*>(&end), format::kLearningSlots};
}

void startEmpty(HistoryHeader& history, std::uint64_t size) {
  memset(&history, 0, sizeof history);
  history.version = format::kHistoryVersion;
  history.headerSize = sizeof history;
  history.entrySize = sizeof(HistoryEntry);
  history.entriesEach = static_cast<std::uint32_t>(format::historyEntries(size));
  history.merged = format::kHistoryMerged;
}

// By how many sub-buffers were filled in the time that has passed. At least one of those that are in the ring
// now is asked at, whatever the thread does from here on.
std::uint64_t subBufferDue(const SegmentHeader& segment, std::uint64_t from, std::uint64_t passed,
                           std::uint64_t left) {
  const std::uint64_t most = segment.subBufferCount > 1 ? segment.subBufferCount - 1 : 1;
  std::uint64_t ahead = most;
  if (passed != 0) ahead = (segment.ordinal - from) * left / passed;
  if (ahead == 0) ahead = 1;
  return segment.ordinal + (ahead < most ? ahead : most);
}

}  // namespace

void startHistory(HistoryHeader& history, std::uint64_t size, std::uint64_t ticks) {
  startEmpty(history, size);
  history.levels = format::kHistoryLevels;
  history.lastTicks = ticks;
  history.random = ticks;
}

bool isTimeToLook(HistoryHeader& history, const SegmentHeader& segment, std::uint64_t ticks) {
  if (__builtin_expect(ticks - history.lastTicks < kHistoryTicks, 1)) return false;
  // Else this is so for processors that do not agree, too.
  const bool later = ticks > history.lastTicks;
  history.lastTicks = ticks;
  return later && overwrites(segment);
}

bool lookIntoOldest(HistoryHeader& history, std::uint64_t size, const SegmentHeader& segment,
                    std::uint64_t processorTime, std::uint64_t pause, HistoryPace& pace) {
  const std::uint64_t slots = format::historyEntries(size);
  const std::uint64_t most = segment.subBufferWords / kWindowWords;
  if (most < kLeastWindows || slots < 2 * format::kHistoryMerged) return false;
  std::uint64_t passed = 0;
  if (processorTime != 0) {
    passed = processorTime - history.lastProcessorTime;
    const bool isSoon = passed < pause;
    pace.due = subBufferDue(segment, pace.from, passed, isSoon ? pause - passed : pause);
    if (isSoon) return false;
    pace.from = segment.ordinal;
    history.lastProcessorTime = processorTime;
  }
  std::uint64_t windows = passed / kNanosecondsAWindow;
  if (windows < kLeastWindows) windows = kLeastWindows;
  if (windows > most) windows = most;
  look(history, slots, segment, static_cast<unsigned>(windows));
  return true;
}

void startCounting(HistoryHeader& history, std::uint64_t size) {
  startEmpty(history, size);
  onlyCounts(history, size).start(false);
}

void countOldest(HistoryHeader& history, std::uint64_t size, const SegmentHeader& segment) {
  if (format::historyCountSlots(size) == 0 || !overwrites(segment)) return;
  onlyCounts(history, size).add(oldestSubBuffer(segment), segment.subBufferWords);
}

void startLearning(HistoryHeader& history, std::uint64_t size, bool isZero) {
  countsBehindLevels(history, size).start(isZero);
}

std::uint64_t countPart(HistoryHeader& history, std::uint64_t size, const SegmentHeader& segment) {
  // Some thirty microseconds of kLearningTime, or more, from one look to the next.
  constexpr std::uint32_t kMostWords = 8192;
  const std::uint32_t all = segment.subBufferWords;
  const std::uint32_t words = all / 2 < kMostWords ? all / 2 : kMostWords;
  const Word* const from = oldestSubBuffer(segment) + nextRandom(history) % (all - words + 1);
  return countsBehindLevels(history, size).add(from, words);
}

}  // namespace traceback::inject
