#include "runtime/inject/rings/rings.h"

#include <pthread.h>

#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/clock.h"
#include "runtime/inject/rings/ring_history.h"
#include "runtime/inject/rings/ring_table.h"
#include "runtime/inject/signals/alternate_stack.h"
#include "runtime/inject/signals/own_fault.h"

namespace traceback::inject {

namespace {

constinit pthread_key_t endKey = 0;

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

// False if there is no ring for the thread.
bool beginRing(Thread& t) {
  t.ring = makeRing(t.late);
  if (t.ring == nullptr) return false;
  t.level = 0;
  t.endRounds = 0;
  t.history = historyPace(*t.ring);
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
    t.freedSeen = endedRings();
  }
  if (t.state == ThreadState::Probation) t.state = ThreadState::Untraced;
  enterDiscard(t);
}

void attachLate(Thread& t) {
  if (t.state != ThreadState::Untraced || !t.late || t.ring != nullptr || t.handlers != 0) return;
  if (t.freedSeen == endedRings()) return;
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
    loseRing(*t.ring);
  }
  t.ring = nullptr;
  dropAlternateStack(t);
}

bool watchThreadEnds() { return pthread_key_create(&endKey, destroyKey) == 0; }

}  // namespace traceback::inject
