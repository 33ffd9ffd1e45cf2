#include "runtime/inject/rings/ring_history.h"

#include <time.h>

#include "runtime/inject/kernel/system.h"
#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/clock.h"
#include "runtime/inject/rings/history.h"
#include "runtime/inject/rings/ring_memory.h"

namespace traceback::inject {

namespace {

format::HistoryHeader& historyOf(const Ring& ring) {
  return *reinterpret_cast<format::HistoryHeader*>(reinterpret_cast<std::uint8_t*>(ring.header) + ring.size -
                                                   ring.historySize);
}

// Of the calling thread, in nanoseconds.
std::uint64_t processorTime() {
  struct timespec now{};
  systemCall(__NR_clock_gettime, CLOCK_THREAD_CPUTIME_ID, asLong(&now));
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

constexpr std::uint64_t kNever = ~std::uint64_t{0};  // of HistoryPace::due

// The table of counts behind the levels.
std::uint64_t tableSize() { return process.learning ? format::kLearningSize : 0; }
std::uint64_t levelsSize(const Ring& ring) { return ring.historySize - tableSize(); }

std::uint64_t chosenLevelsSize() {
  if (!process.environment.historySaid) return format::kDefaultHistorySize;
  std::uint64_t bytes = process.environment.historySize;
  if (bytes == 0) return 0;
  if (bytes < format::kLeastHistorySize) bytes = format::kLeastHistorySize;
  if (bytes > format::kMostHistorySize) bytes = format::kMostHistorySize;
  return (bytes + kPage - 1) / kPage * kPage;
}

}  // namespace

std::uint64_t chosenHistorySize() { return chosenLevelsSize() + tableSize(); }

bool beginHistoryMemory(Ring& ring) {
  if (ring.historySize == 0 || ring.historyIsThere) return true;
  if (!process.environment.historyCounts)
    return bringIn(ring, &historyOf(ring), sizeof(format::HistoryHeader));
  return bringInHistory(ring);
}

bool bringInHistory(Ring& ring) {
  if (!ring.historyIsThere && ring.historySize != 0)
    ring.historyIsThere = bringIn(ring, &historyOf(ring), ring.historySize);
  return ring.historyIsThere || ring.historySize == 0;
}

void startHistory(const Ring& ring) {
  if (ring.historySize == 0) return;
  format::HistoryHeader& history = historyOf(ring);
  const bool isNew = history.version == 0 || !ring.historyIsThere;
  if (process.environment.historyCounts) {
    startCounting(history, ring.historySize);
  } else {
    startHistory(history, levelsSize(ring), processorTicks());
    if (process.learning) startLearning(history, levelsSize(ring), isNew);
  }
  ring.header->historyOffset = ring.size - ring.historySize;
  ring.header->historySize = static_cast<std::uint32_t>(ring.historySize);
}

HistoryPace historyPace(const Ring& ring) { return {0, ring.historySize == 0 ? kNever : 0}; }

void keepHistory(Thread& t, const SegmentHeader& segment) {
  if (t.history.due == kNever || !atSubBufferEnd(segment)) return;
  Ring& ring = *t.ring;
  format::HistoryHeader& history = historyOf(ring);
  if (process.environment.historyCounts) return countOldest(history, ring.historySize, segment);
  if (!isTimeToLook(history, segment, processorTicks())) return;
  if (!bringInHistory(ring)) {
    t.history.due = kNever;
    return;
  }
  // Where we make no system calls the least is read.
  const std::uint64_t time = process.sandboxed ? 0 : processorTime();
  const std::uint64_t pause = process.learning ? kLearningTime : kHistoryTime;
  if (!lookIntoOldest(history, levelsSize(ring), segment, time, pause, t.history) || !process.learning)
    return;
  __atomic_fetch_add(&process.learned, countPart(history, levelsSize(ring), segment), __ATOMIC_RELAXED);
}

}  // namespace traceback::inject
