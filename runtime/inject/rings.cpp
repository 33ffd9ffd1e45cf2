#include "runtime/inject/rings.h"

#include <fcntl.h>
#include <linux/prctl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include "runtime/inject/alternate_stack.h"
#include "runtime/inject/clock.h"
#include "runtime/inject/files.h"
#include "runtime/inject/own_fault.h"
#include "runtime/inject/process.h"
#include "runtime/inject/ring_history.h"

namespace traceback::inject {

namespace {

constinit Ring rings[kMaxRings + kMaxEndedRings];
constinit std::uint32_t ringsMade = 0;
constinit std::uint32_t ringsFreed = 0;
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

// Small, as all that may stand on a signal's stack.
using FileName = Text<48>;

FileName fileName(const Ring& ring) {
  FileName name;
  name.add(std::uint64_t{ring.tid}).add("-").add(std::uint64_t{ring.number}).add(".ring");
  return name;
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

bool isThread(std::uint32_t tid) { return !failed(systemCall(__NR_tgkill, process.pid, tid, 0)); }

// Threads that ended without their destructors (a raw exit, of a raw clone) leave their rings in use.
void scavenge() {
  for (Ring& ring : rings) {
    if (ring.use != Ring::Use::Live || isThread(ring.tid)) continue;
    systemCall(__NR_munmap, asLong(ring.header), static_cast<long>(ring.size));
    ring.use = Ring::Use::Ended;
    ++ringsFreed;
  }
}

// An entry for a new ring, or nothing. Rings of ended threads stay to be looked at, but not for ever: the
// entry may be one of theirs, whose file is then to be used again.
Ring* chooseEntry(const Limits& limits) {
  Ring* oldest = nullptr;
  Ring* unused = nullptr;
  unsigned live = 0, ended = 0;
  for (Ring& ring : rings) {
    if (ring.use == Ring::Use::Free) unused = &ring;
    if (ring.use == Ring::Use::Live) ++live;
    if (ring.use != Ring::Use::Ended) continue;
    ++ended;
    if (oldest == nullptr || ring.number < oldest->number) oldest = &ring;
  }
  if (live >= limits.live) return nullptr;
  return ended >= kMaxEndedRings || live + ended >= limits.all || unused == nullptr ? oldest : unused;
}

// Leaves room for others: a full memory file system would harm the program that shares it.
bool roomFor(long file, std::uint64_t size) {
  struct statfs status{};
  if (failed(systemCall(__NR_fstatfs, file, asLong(&status)))) return false;
  const auto block = static_cast<std::uint64_t>(status.f_bsize);
  return status.f_blocks == 0 ||
         status.f_bavail >= 4 * (size / block + 1);  // 0: a file system without a limit
}

// A descriptor of the ring's file with all of its memory allocated, or -1. Makes it if `former` is null, else
// gives the file of that name, of the same size, the new name.
long openRingFile(int folder, const Ring& ring, std::uint64_t size, const char* former) {
  const FileName name = fileName(ring);
  if (former != nullptr) {
    if (failed(systemCall(__NR_renameat, folder, asLong(former), folder, asLong(name.c_str())))) return -1;
    return systemCall(__NR_openat, folder, asLong(name.c_str()), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  }
  const long file = systemCall(__NR_openat, folder, asLong(name.c_str()),
                               O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (failed(file)) return -1;
  if (roomFor(file, size) && mayMakeFile(size) &&
      !failed(systemCall(__NR_fallocate, file, 0, 0, static_cast<long>(size))))
    return file;
  systemCall(__NR_close, file);
  systemCall(__NR_unlinkat, folder, asLong(name.c_str()), 0);
  return -1;
}

// Maps the ring's file; with the present contents and in the present place if it is mapped already.
bool mapRing(Ring& ring, std::uint64_t size, const char* former = nullptr) {
  const int folder = openProcessFolder();
  if (folder < 0) return false;
  const auto place = reinterpret_cast<std::uint64_t>(ring.header);
  const long file = openRingFile(folder, ring, size, former);
  long mapping = -1;
  if (!failed(file)) {
    if (place == 0 || copyMapping(static_cast<int>(file), place, size))
      mapping =
          systemCall(__NR_mmap, static_cast<long>(place), static_cast<long>(size), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_POPULATE | (place == 0 ? 0 : MAP_FIXED), file, 0);
    systemCall(__NR_close, file);
    if (failed(mapping)) systemCall(__NR_unlinkat, folder, asLong(fileName(ring).c_str()), 0);
  }
  systemCall(__NR_close, folder);
  if (failed(mapping)) return false;
  systemCall(__NR_madvise, mapping, static_cast<long>(size), MADV_DONTFORK);
  systemCall(__NR_madvise, mapping, static_cast<long>(size), MADV_DONTDUMP);
  ring.header = reinterpret_cast<format::RingHeader*>(mapping);
  ring.size = size;
  return true;
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
  systemCall(__NR_prctl, PR_GET_NAME, asLong(header.name));
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

Ring* makeRing(bool late) {
  if (!openProcessFile()) return nullptr;
  const Layout main = mainLayout();
  const std::uint64_t history = chosenHistorySize();
  const std::uint64_t size =
      format::kRingHeaderSize + main.bytes() + (format::kMaxSegments - 1) * kHandlerLayout.bytes() + history;
  const Limits limits = limitsFor(size);
  Ring* ring = chooseEntry(limits);
  if (ring == nullptr) {
    scavenge();
    ring = chooseEntry(limits);
  }
  if (ring == nullptr) return nullptr;
  const bool again = ring->use == Ring::Use::Ended;
  const FileName former = fileName(*ring);
  ring->use = Ring::Use::Free;
  ring->number = ringsMade;
  ring->tid = rawTid();
  ring->header = nullptr;
  ring->historySize = history;
  if (!mapRing(*ring, size, again ? former.c_str() : nullptr)) return nullptr;
  fillRing(*ring, main, late);
  ring->use = Ring::Use::Live;
  ++ringsMade;
  __atomic_store_n(&process.file->ringCount, ringsMade, __ATOMIC_RELEASE);
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
  if (t.state == ThreadState::Probation && process.recording && !process.sandboxed) {
    if (!inOwnProcess()) return enterDiscard(t);  // in a vfork child: the thread is its parent's
    Locked locked(process.lock);
    enterDiscard(t);  // whatever is called from here, and happens to be traced, must not come here
    t.ring = makeRing(t.late);
    if (t.ring == nullptr && !t.late && process.file != nullptr)
      __atomic_fetch_add(&process.file->ringsFailed, 1u, __ATOMIC_RELAXED);
    if (t.ring != nullptr) {
      t.level = 0;
      t.endRounds = 0;
      makeAlternateStack(t);
      Spills spills;  // of the probe that came here
      saveSpills(spills);
      pthread_setspecific(endKey, &t);  // a low key: its place is in the thread's descriptor, not allocated
      restoreSpills(spills);
      t.state = ThreadState::Traced;
      setSlot(segmentOf(t, 0));
      return;
    }
    t.late = true;
    t.freedSeen = ringsFreed;
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
    if (t.state == ThreadState::Traced) writeThreadEnd(t);  // and its ring stays mapped
    return;
  }
  Locked locked(process.lock);
  if (t.ring == nullptr) return;
  leaveLostRing();
  if (t.state == ThreadState::Traced) {
    writeThreadEnd(t);
    systemCall(__NR_munmap, asLong(t.ring->header), static_cast<long>(t.ring->size));
  }
  t.ring->use = Ring::Use::Ended;
  ++ringsFreed;
  t.ring = nullptr;
  dropAlternateStack(t);
}

bool watchThreadEnds() { return pthread_key_create(&endKey, destroyKey) == 0; }

void forgetRings() {
  memset(rings, 0, sizeof rings);
  ringsMade = ringsFreed = 0;
}

bool withdrawFiles() {
  Thread& t = thread();
  Locked locked(process.lock);
  if (t.state != ThreadState::Traced) return false;
  for (const Ring& ring : rings)
    if (ring.use != Ring::Use::Free && &ring != t.ring) return false;
  withdrawProcessFolder();
  return true;
}

void restoreFiles() {
  Thread& t = thread();
  Locked locked(process.lock);
  if (t.state != ThreadState::Traced) return;
  if (!restoreProcessFolder() || !mapRing(*t.ring, t.ring->size)) {
    // Recording goes on in memory that nobody finds: there is no harm in it, and no folder without rings.
    withdrawProcessFolder();
  }
}

}  // namespace traceback::inject
