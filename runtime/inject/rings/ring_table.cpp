#include "runtime/inject/rings/ring_table.h"

#include <span>

#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/clock.h"
#include "runtime/inject/rings/ring_file.h"
#include "runtime/inject/rings/ring_history.h"
#include "runtime/inject/rings/ring_layout.h"
#include "runtime/inject/rings/ring_memory.h"
#include "runtime/inject/rings/segment.h"
#include "runtime/inject/rings/thread.h"

namespace traceback::inject {

namespace {

constexpr unsigned kEntries = kMaxRings + kMaxEndedRings;
constinit Ring rings[kEntries];
constinit std::uint32_t used =
    0;  // of these: the others are Free still, and in memory that nobody has touched
constinit std::uint32_t made = 0;   // the reserve included
constinit std::uint32_t taken = 0;  // by a thread
constinit std::uint32_t ended = 0;
constinit bool reserved = false;  // for times when no file can be made

std::span<Ring> usedEntries() { return {rings, __atomic_load_n(&used, __ATOMIC_ACQUIRE)}; }
// That this entry, the first of the others perhaps, is one of them now.
void setUsed(const Ring& ring) {
  const auto number = static_cast<std::uint32_t>(&ring - rings);
  if (number >= used) __atomic_store_n(&used, number + 1, __ATOMIC_RELEASE);
}

struct Limits {
  unsigned live, all;
};
// What the user wants, of what there is room for.
Limits currentLimits() {
  const Environment& environment = process.environment;
  Limits limits{environment.mostRings == 0 ? kUsualRings : static_cast<unsigned>(environment.mostRings),
                kEntries};
  if (environment.mostBytes != 0) {
    const std::uint64_t affordable = environment.mostBytes / ringMemory();
    if (affordable < limits.all) limits.all = static_cast<unsigned>(affordable);
  }
  if (limits.live > kMaxRings) limits.live = kMaxRings;
  if (limits.live > limits.all) limits.live = limits.all;
  return limits;
}

// Such a time was foreseen, or is there.
bool filesMayBeOver() { return reserved || process.sandboxed; }

Ring::Use useOf(const Ring& ring) { return __atomic_load_n(&ring.use, __ATOMIC_ACQUIRE); }
void setUse(Ring& ring, Ring::Use use) { __atomic_store_n(&ring.use, use, __ATOMIC_RELEASE); }

bool isThread(std::uint32_t tid) { return !failed(systemCall(__NR_tgkill, process.pid, tid, 0)); }

// Threads that ended without their destructors (a raw exit, of a raw clone) leave their rings in use.
void scavenge() {
  for (Ring& ring : usedEntries()) {
    if (useOf(ring) != Ring::Use::Live || isThread(ring.tid)) continue;
    endRing(ring);
  }
}

// An entry for a new ring, or nothing. Rings of ended threads stay to be looked at, but not for ever: the
// entry may be one of theirs, whose file is then to be used again.
Ring* chooseEntry(const Limits& limits) {
  Ring* oldest = nullptr;
  Ring* unused = nullptr;
  unsigned live = 0, kept = 0;
  for (Ring& ring : usedEntries()) {
    const Ring::Use use = useOf(ring);
    if (use == Ring::Use::Free && unused == nullptr) unused = &ring;
    if (use == Ring::Use::Live) ++live;
    if (use != Ring::Use::Ended) continue;
    ++kept;
    if (oldest == nullptr || ring.order < oldest->order) oldest = &ring;
  }
  if (unused == nullptr && used < kEntries) unused = &rings[used];
  if (live >= limits.live) return nullptr;
  return kept >= kMaxEndedRings || live + kept >= limits.all || unused == nullptr ? oldest : unused;
}

void giveRing(Ring& ring, std::uint32_t tid, bool late) {
  ring.tid = tid;
  __atomic_store_n(&ring.order, __atomic_add_fetch(&taken, 1u, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
  startRing(ring, late);
  setUse(ring, Ring::Use::Live);
  __atomic_fetch_add(&process.file->ringCount, 1u, __ATOMIC_RELEASE);
}

// Without a lock, for where the program filters its system calls nobody may block signals. Null if there is
// none, or none that is still as it was seen.
bool claim(Ring& ring, Ring::Use expected) {
  return __atomic_compare_exchange_n(&ring.use, &expected, Ring::Use::Making, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED);
}
// Of one that may be claimed meanwhile: what they say is only a hint then.
std::uint32_t orderOf(const Ring& ring) { return __atomic_load_n(&ring.order, __ATOMIC_RELAXED); }
const format::RingHeader* headerOf(const Ring& ring) {
  return __atomic_load_n(&ring.header, __ATOMIC_RELAXED);
}
Ring* claimMapped() {
  for (Ring& ring : usedEntries())
    if (useOf(ring) == Ring::Use::Reserved && claim(ring, Ring::Use::Reserved)) return &ring;
  for (;;) {
    Ring* oldest = nullptr;
    for (Ring& ring : usedEntries())
      if (useOf(ring) == Ring::Use::Ended && headerOf(ring) != nullptr &&
          (oldest == nullptr || orderOf(ring) < orderOf(*oldest)))
        oldest = &ring;
    if (oldest == nullptr) return nullptr;
    if (!claim(*oldest, Ring::Use::Ended)) continue;
    if (process.sandboxed || isStillMapped(*oldest)) return oldest;
    loseRing(*oldest);
  }
}

// One that is mapped already, for a thread that can have no other. What another one recorded is given up only
// where it was foreseen that there would be no more files.
Ring* takeMapped(bool late) {
  if (!filesMayBeOver()) return nullptr;
  const std::uint32_t tid = process.sandboxed ? tidOfDescriptor() : rawTid();
  if (tid == 0 || process.file == nullptr) return nullptr;
  Ring* ring = claimMapped();
  if (ring == nullptr) return nullptr;
  if (memoryOf(*ring) == Ring::Memory::None && !beginMemory(*ring)) {
    setUse(*ring, Ring::Use::Reserved);
    return nullptr;
  }
  giveRing(*ring, tid, late);
  return ring;
}

}  // namespace

Ring* makeRing(bool late) {
  if (process.sandboxed) return takeMapped(late);
  if (!openProcessFile()) return nullptr;
  const std::uint64_t size = ringSize();
  const Limits limits = currentLimits();
  Ring* ring = chooseEntry(limits);
  if (ring == nullptr) {
    scavenge();
    ring = chooseEntry(limits);
  }
  if (ring == nullptr) return nullptr;
  setUsed(*ring);
  const Ring before = *ring;
  if (!claim(*ring, before.use)) return takeMapped(late);
  const bool again = before.use == Ring::Use::Ended;
  const RingName former = fileName(before);
  ring->number = made;
  ring->nameTid = rawTid();
  if (!again || !isStillMapped(before)) ring->header = nullptr;
  ring->historySize = chosenHistorySize();
  if (!mapRing(*ring, size, again ? former.c_str() : nullptr)) {
    *ring = before;
    return takeMapped(late);
  }
  ++made;
  giveRing(*ring, rawTid(), late);
  return ring;
}

namespace {

void setEnded(Ring& ring) {
  setUse(ring, Ring::Use::Ended);
  __atomic_fetch_add(&ended, 1u, __ATOMIC_RELAXED);
}

}  // namespace

void endRing(Ring& ring) {
  if (!filesMayBeOver()) restRing(ring);
  setEnded(ring);
}

void loseRing(Ring& ring) {
  ring.header = nullptr;
  setEnded(ring);
}

namespace {

// Its thread runs on meanwhile.
void noteWhereItIs(format::RingHeader& header) {
  constexpr unsigned kMostTries = 8;
  const std::uint32_t level = __atomic_load_n(&header.level, __ATOMIC_ACQUIRE);
  if (level >= format::kMaxSegments) return;
  const format::SegmentHeader& segment = header.segments[level];
  for (unsigned i = 0; i < kMostTries; ++i) {
    format::SegmentHeader seen = segment;  // but for these two it stays as it is
    seen.ordinal = __atomic_load_n(&segment.ordinal, __ATOMIC_ACQUIRE);
    seen.cursor = __atomic_load_n(&segment.cursor, __ATOMIC_ACQUIRE);
    if (__atomic_load_n(&segment.ordinal, __ATOMIC_ACQUIRE) != seen.ordinal || isAstray(seen)) continue;
    header.seenPosition = positionOf(seen);
    header.seenLevel = level;
    __atomic_store_n(&header.seenTime, timeStamp(), __ATOMIC_RELEASE);
    return;
  }
}

}  // namespace

void noteWhereOthersAre(const Ring* own) {
  constexpr unsigned kMostTries = 64;
  unsigned tries = 0;
  while (!process.lock.tryLock()) {
    if (++tries == kMostTries) return;
    __builtin_ia32_pause();
  }
  for (Ring& ring : usedEntries())
    if (useOf(ring) == Ring::Use::Live && &ring != own && isStillMapped(ring)) noteWhereItIs(*ring.header);
  process.lock.unlock();
}

std::uint32_t endedRings() { return __atomic_load_n(&ended, __ATOMIC_RELAXED); }

void forgetRings() {
  memset(rings, 0, used * sizeof *rings);
  used = made = taken = ended = 0;
  reserved = false;
}

void reserveRings(bool allocated) {
  if (inForkedChild()) childStarted(true);
  if (!process.recording || process.sandboxed || !inOwnProcess()) return;
  Locked locked(process.lock);
  if (!openProcessFile()) return;
  if (!reserved) removeEndedNeighbours();  // once, however it confines itself step by step
  const std::uint64_t size = ringSize();
  const Limits limits = currentLimits();
  unsigned kept = 0, spare = 0;
  for (Ring& ring : usedEntries()) {
    const Ring::Use use = useOf(ring);
    // Behind a filter nobody can ask.
    if (allocated && use == Ring::Use::Ended && !isStillMapped(ring)) ring.header = nullptr;
    if (use == Ring::Use::Free) continue;
    ++kept;
    // A thread that finds no more goes round in what it has.
    if (allocated && use == Ring::Use::Live) bringInWhole(ring);
    if (use != Ring::Use::Reserved) continue;
    if (!allocated || (spare < kMostAllocated && bringInWhole(ring))) ++spare;
  }
  for (Ring& ring : rings) {
    if (spare >= (allocated ? kMostAllocated : kMostReserved) || kept >= limits.all || kept >= limits.live)
      break;
    if (useOf(ring) != Ring::Use::Free) continue;
    ring = {};
    setUsed(ring);
    ring.number = made;
    ring.historySize = chosenHistorySize();
    if (!mapReserve(ring, size, spare + 1, allocated)) break;
    ++made, ++kept, ++spare;
    setUse(ring, Ring::Use::Reserved);
    reserved = true;
    if (memoryOf(ring) == Ring::Memory::Whole) allocated = true;
  }
}

bool withdrawFiles() {
  Thread& t = thread();
  Locked locked(process.lock);
  if (t.state != ThreadState::Traced) return false;
  for (const Ring& ring : usedEntries())
    if (useOf(ring) != Ring::Use::Free && useOf(ring) != Ring::Use::Reserved && &ring != t.ring) return false;
  withdrawProcessFolder();
  return true;
}

void restoreFiles() {
  Thread& t = thread();
  Locked locked(process.lock);
  if (t.state != ThreadState::Traced) return;
  for (Ring& ring : usedEntries()) {
    if (useOf(ring) != Ring::Use::Reserved) continue;
    unmapRing(ring);
    setUse(ring, Ring::Use::Free);
  }
  if (!restoreProcessFolder() || !mapRing(*t.ring, t.ring->size)) {
    // Recording goes on in memory that nobody finds: there is no harm in it, and no folder without rings.
    withdrawProcessFolder();
  }
}

}  // namespace traceback::inject
