#include "runtime/inject/rings/rings.h"

#include <linux/prctl.h>
#include <pthread.h>

#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/clock.h"
#include "runtime/inject/rings/ring_file.h"
#include "runtime/inject/rings/ring_history.h"
#include "runtime/inject/signals/alternate_stack.h"
#include "runtime/inject/signals/own_fault.h"

namespace traceback::inject {

namespace {

constinit Ring rings[kMaxRings + kMaxEndedRings];
constinit std::uint32_t ringsMade = 0;   // the reserve included
constinit std::uint32_t ringsTaken = 0;  // by a thread
constinit std::uint32_t ringsFreed = 0;
constinit bool reserved = false;  // for times when no file can be made
constinit pthread_key_t endKey = 0;

struct Layout {
  std::uint32_t subBufferWords, subBufferCount;
  std::uint64_t bytes() const { return std::uint64_t{subBufferWords} * subBufferCount * sizeof(Word); }
};

inline constexpr Layout kHandlerLayout{16384 / sizeof(Word), 4};

Layout mainLayout() {
  constexpr std::uint64_t kDefault = 1 << 20, kLeast = 1 << 16, kMost = 1 << 30, kPage = 4096;
  constexpr std::uint32_t kCount = 16;
  std::uint64_t bytes = process.environment.bufferSize;
  if (bytes == 0) bytes = kDefault;
  if (bytes < kLeast) bytes = kLeast;
  if (bytes > kMost) bytes = kMost;
  const std::uint64_t each = (bytes / kCount + kPage - 1) / kPage * kPage;
  return {static_cast<std::uint32_t>(each / sizeof(Word)), kCount};
}

struct Limits {
  unsigned live, all;
};
// What the user wants, of what there is room for.
Limits limitsFor(std::uint64_t ringSize) {
  const Environment& environment = process.environment;
  Limits limits{environment.mostRings == 0 ? kUsualRings : static_cast<unsigned>(environment.mostRings),
                kMaxRings + kMaxEndedRings};
  if (environment.mostBytes != 0 && environment.mostBytes / ringSize < limits.all)
    limits.all = static_cast<unsigned>(environment.mostBytes / ringSize);
  if (limits.live > kMaxRings) limits.live = kMaxRings;
  if (limits.live > limits.all) limits.live = limits.all;
  return limits;
}

std::uint64_t ringSize() {
  return format::kRingHeaderSize + mainLayout().bytes() +
         (format::kMaxSegments - 1) * kHandlerLayout.bytes() + chosenHistorySize();
}

Ring::Use useOf(const Ring& ring) { return __atomic_load_n(&ring.use, __ATOMIC_ACQUIRE); }
void setUse(Ring& ring, Ring::Use use) { __atomic_store_n(&ring.use, use, __ATOMIC_RELEASE); }

// What its thread recorded stays to be looked at; and mapped, if it may have to be the next one's as it is.
void endRing(Ring& ring) {
  if (!reserved && !process.sandboxed) unmapRing(ring);
  setUse(ring, Ring::Use::Ended);
  __atomic_fetch_add(&ringsFreed, 1u, __ATOMIC_RELAXED);
}

bool isThread(std::uint32_t tid) { return !failed(systemCall(__NR_tgkill, process.pid, tid, 0)); }

// Threads that ended without their destructors (a raw exit, of a raw clone) leave their rings in use.
void scavenge() {
  for (Ring& ring : rings) {
    if (useOf(ring) != Ring::Use::Live || isThread(ring.tid)) continue;
    endRing(ring);
  }
}

// An entry for a new ring, or nothing. Rings of ended threads stay to be looked at, but not for ever: the
// entry may be one of theirs, whose file is then to be used again.
Ring* chooseEntry(const Limits& limits) {
  Ring* oldest = nullptr;
  Ring* unused = nullptr;
  unsigned live = 0, ended = 0;
  for (Ring& ring : rings) {
    const Ring::Use use = useOf(ring);
    if (use == Ring::Use::Free) unused = &ring;
    if (use == Ring::Use::Live) ++live;
    if (use != Ring::Use::Ended) continue;
    ++ended;
    if (oldest == nullptr || ring.order < oldest->order) oldest = &ring;
  }
  if (live >= limits.live) return nullptr;
  return ended >= kMaxEndedRings || live + ended >= limits.all || unused == nullptr ? oldest : unused;
}

// `late`: the thread has run traced code before, which nobody recorded.
void fillRing(Ring& ring, const Layout& main, bool late) {
  format::RingHeader& header = *ring.header;
  // The file may have been another thread's: it is no ring while it is made.
  __atomic_store_n(&header.magic, std::uint64_t{0}, __ATOMIC_RELEASE);
  memset(&header, 0, sizeof header);
  header.version = format::kRingVersion;
  header.headerSize = format::kRingHeaderSize;
  header.pid = process.pid;
  header.tid = ring.tid;
  header.processStart = process.start;
  const std::uint64_t now = timeStamp();
  header.threadStart = late ? 0 : now;
  header.state = static_cast<std::uint32_t>(format::RingState::InUse);
  header.segmentCount = format::kMaxSegments;
  if (!process.sandboxed) systemCall(__NR_prctl, PR_GET_NAME, asLong(header.name));
  auto* base = reinterpret_cast<std::uint8_t*>(ring.header);
  std::uint64_t offset = format::kRingHeaderSize;
  for (unsigned i = 0; i < format::kMaxSegments; ++i) {
    const Layout& layout = i == 0 ? main : kHandlerLayout;
    startSegment(header.segments[i], reinterpret_cast<Word*>(base + offset), layout.subBufferWords,
                 layout.subBufferCount, offset);
    offset += layout.bytes();
  }
  startHistory(ring);
  const std::uint64_t values[] = {now, ring.tid};
  if (late) {
    append(header.segments[0], format::RecordType::Gap, static_cast<std::uint16_t>(format::GapReason::NoRing),
           values, 1);
  } else {
    append(header.segments[0], format::RecordType::ThreadStart, 0, values, 2);
  }
  __atomic_store_n(&header.magic, format::kRingMagic, __ATOMIC_RELEASE);
}

void giveRing(Ring& ring, std::uint32_t tid, bool late) {
  ring.tid = tid;
  __atomic_store_n(&ring.order, __atomic_add_fetch(&ringsTaken, 1u, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
  fillRing(ring, mainLayout(), late);
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
  for (Ring& ring : rings)
    if (useOf(ring) == Ring::Use::Reserved && claim(ring, Ring::Use::Reserved)) return &ring;
  for (;;) {
    Ring* oldest = nullptr;
    for (Ring& ring : rings)
      if (useOf(ring) == Ring::Use::Ended && headerOf(ring) != nullptr &&
          (oldest == nullptr || orderOf(ring) < orderOf(*oldest)))
        oldest = &ring;
    if (oldest == nullptr || claim(*oldest, Ring::Use::Ended)) return oldest;
  }
}

// One that is mapped already, for a thread that can have no other.
Ring* takeMapped(bool late) {
  const std::uint32_t tid = process.sandboxed ? tidOfDescriptor() : rawTid();
  if (tid == 0 || process.file == nullptr) return nullptr;
  Ring* ring = claimMapped();
  if (ring == nullptr) return nullptr;
  if (!ring->allocated && !process.sandboxed) ring->allocated = allocateMapped(*ring, ring->size);
  if (!ring->allocated) {
    setUse(*ring, Ring::Use::Reserved);
    return nullptr;
  }
  giveRing(*ring, tid, late);
  return ring;
}

Ring* makeRing(bool late) {
  if (process.sandboxed) return takeMapped(late);
  if (!openProcessFile()) return nullptr;
  const std::uint64_t size = ringSize();
  const Limits limits = limitsFor(size);
  Ring* ring = chooseEntry(limits);
  if (ring == nullptr) {
    scavenge();
    ring = chooseEntry(limits);
  }
  if (ring == nullptr) return nullptr;
  const Ring before = *ring;
  if (!claim(*ring, before.use)) return takeMapped(late);
  const bool again = before.use == Ring::Use::Ended;
  const RingName former = fileName(before);
  ring->number = ringsMade;
  ring->nameTid = rawTid();
  ring->header = nullptr;
  ring->historySize = chosenHistorySize();
  if (!mapRing(*ring, size, again ? former.c_str() : nullptr)) {
    *ring = before;
    return takeMapped(late);
  }
  if (again && before.header != nullptr)
    systemCall(__NR_munmap, asLong(before.header), static_cast<long>(before.size));
  ++ringsMade;
  giveRing(*ring, rawTid(), late);
  return ring;
}

inline constexpr unsigned kDestructorRounds = 4;  // PTHREAD_DESTRUCTOR_ITERATIONS

// Destructors of thread keys run in rounds as long as one sets its value again. Ours does that until the
// last round, so that the program's destructors are still traced.
void destroyKey(void* value) {
  Thread& t = thread();
  if (++t.endRounds < kDestructorRounds) {
    pthread_setspecific(endKey, value);
    return;
  }
  threadEnds();
}

}  // namespace

namespace {

// False if there is no ring for the thread.
bool beginRing(Thread& t) {
  t.ring = makeRing(t.late);
  if (t.ring == nullptr) return false;
  t.level = 0;
  t.endRounds = 0;
  if (!process.sandboxed) makeAlternateStack(t);
  Spills spills;  // of the probe that came here
  saveSpills(spills);
  pthread_setspecific(endKey, &t);  // a low key: its place is in the thread's descriptor, not allocated
  restoreSpills(spills);
  t.state = ThreadState::Traced;
  setSlot(segmentOf(t, 0));
  return true;
}

}  // namespace

SegmentHeader* segmentOf(Thread& t, unsigned level) {
  return level < format::kMaxSegments ? &t.ring->header->segments[level] : &t.discard;
}

void attach(Thread& t) {
  if (t.state == ThreadState::Traced) {
    if (t.level < format::kMaxSegments)
      setSlot(segmentOf(t, t.level));
    else
      enterDiscard(t);
    return;
  }
  if (t.state == ThreadState::Shared) return setSlot(&traceback_probation);
  if (t.state == ThreadState::Probation && process.recording) {
    if (process.sandboxed) {
      enterDiscard(t);
      t.state = ThreadState::Untraced;  // what interrupts this is not to come here
      if (beginRing(t)) return;
    } else {
      if (!inOwnProcess()) return enterDiscard(t);  // in a vfork child: the thread is its parent's
      Locked locked(process.lock);
      enterDiscard(t);  // whatever is called from here, and happens to be traced, must not come here
      if (beginRing(t)) return;
    }
    if (!t.late && process.file != nullptr)
      __atomic_fetch_add(&process.file->ringsFailed, 1u, __ATOMIC_RELAXED);
    t.late = true;
    t.freedSeen = __atomic_load_n(&ringsFreed, __ATOMIC_RELAXED);
  }
  if (t.state == ThreadState::Probation) t.state = ThreadState::Untraced;
  enterDiscard(t);
}

void attachLate(Thread& t) {
  if (t.state != ThreadState::Untraced || !t.late || t.ring != nullptr || t.handlers != 0) return;
  if (t.freedSeen == __atomic_load_n(&ringsFreed, __ATOMIC_RELAXED)) return;
  t.state = ThreadState::Probation;
  attach(t);
}

namespace {

void writeThreadEnd(Thread& t) {
  const std::uint64_t values[] = {timeStamp(), t.ring->tid};
  append(*segmentOf(t, t.level < format::kMaxSegments ? t.level : 0), format::RecordType::ThreadEnd, 0,
         values, 2);
  t.ring->header->state = static_cast<std::uint32_t>(format::RingState::ThreadEnded);
  t.state = ThreadState::Ended;
  enterDiscard(t);
}

}  // namespace

void threadEnds() {
  Thread& t = thread();
  if (inForkedChild()) childStarted();
  if (process.sandboxed) {
    if (t.state != ThreadState::Traced) return;
    writeThreadEnd(t);
    Ring* const ring = t.ring;
    t.ring = nullptr;
    endRing(*ring);
    return;
  }
  Locked locked(process.lock);
  if (t.ring == nullptr) return;
  leaveLostRing();
  if (t.state == ThreadState::Traced) {
    writeThreadEnd(t);
    endRing(*t.ring);
  } else if (t.state == ThreadState::Shared) {
    endRing(*t.ring);
  } else {
    // What is mapped there may be the program's by now.
    t.ring->header = nullptr;
    setUse(*t.ring, Ring::Use::Ended);
    __atomic_fetch_add(&ringsFreed, 1u, __ATOMIC_RELAXED);
  }
  t.ring = nullptr;
  dropAlternateStack(t);
}

bool watchThreadEnds() { return pthread_key_create(&endKey, destroyKey) == 0; }

void forgetRings() {
  memset(rings, 0, sizeof rings);
  ringsMade = ringsTaken = ringsFreed = 0;
  reserved = false;
}

void reserveRings(bool allocated) {
  if (inForkedChild()) childStarted(true);
  if (!process.recording || process.sandboxed || !inOwnProcess()) return;
  Locked locked(process.lock);
  if (!openProcessFile()) return;
  const std::uint64_t size = ringSize();
  const Limits limits = limitsFor(size);
  unsigned kept = 0, spare = 0;
  for (Ring& ring : rings) {
    const Ring::Use use = useOf(ring);
    if (use == Ring::Use::Free) continue;
    ++kept;
    if (use != Ring::Use::Reserved) continue;
    if (allocated && !ring.allocated && spare < kMostAllocated)
      ring.allocated = allocateMapped(ring, ring.size);
    if (ring.allocated || !allocated) ++spare;
  }
  for (Ring& ring : rings) {
    if (spare >= (allocated ? kMostAllocated : kMostReserved) || kept >= limits.all || kept >= limits.live)
      break;
    if (useOf(ring) != Ring::Use::Free) continue;
    ring = {};
    ring.number = ringsMade;
    ring.historySize = chosenHistorySize();
    if (!mapReserve(ring, size, spare + 1, allocated)) break;
    ++ringsMade, ++kept, ++spare;
    setUse(ring, Ring::Use::Reserved);
    reserved = true;
    if (ring.allocated) allocated = true;
  }
}

bool withdrawFiles() {
  Thread& t = thread();
  Locked locked(process.lock);
  if (t.state != ThreadState::Traced) return false;
  for (const Ring& ring : rings)
    if (useOf(ring) != Ring::Use::Free && useOf(ring) != Ring::Use::Reserved && &ring != t.ring) return false;
  withdrawProcessFolder();
  return true;
}

void restoreFiles() {
  Thread& t = thread();
  Locked locked(process.lock);
  if (t.state != ThreadState::Traced) return;
  for (Ring& ring : rings) {
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
