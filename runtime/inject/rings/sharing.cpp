#include "runtime/inject/rings/sharing.h"

#include "runtime/inject/kernel/system.h"
#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/clock.h"
#include "runtime/inject/rings/rings.h"
#include "runtime/inject/rings/segment.h"

namespace traceback::inject {

namespace {

bool isGone(const Sharer& sharer) {
  constexpr long kNoSuchProcess = -3;  // -ESRCH
  if (sharer.tid == 0) return false;  // it is being made
  return (sharer.ofProcess ? systemCall(__NR_tgkill, process.pid, sharer.tid, 0)
                           : systemCall(__NR_kill, sharer.tid, 0)) == kNoSuchProcess;
}

bool areAllGone(Thread& t) {
  if (t.sharers > kMostSharers) return false;
  while (t.sharers != 0 && isGone(t.sharer[t.sharers - 1])) --t.sharers;
  return t.sharers == 0;
}

void share(Thread& t, const Sharer& sharer) {
  if (t.sharers < kMostSharers) t.sharer[t.sharers] = sharer;
  if (t.sharers <= kMostSharers) ++t.sharers;
  if (t.state == ThreadState::Shared) return;
  if (t.state == ThreadState::Traced && t.level < format::kMaxSegments) {
    SegmentHeader& segment = *segmentOf(t, t.level);
    const std::uint64_t now = timeStamp();
    append(segment, format::RecordType::Gap, static_cast<std::uint16_t>(format::GapReason::Shared), &now, 1);
  }
  if (process.file != nullptr) __atomic_fetch_add(&process.file->ringsFailed, 1u, __ATOMIC_RELAXED);
  t.unshared = t.state;
  t.lastLook = processorTicks();
  t.state = ThreadState::Shared;
  setSlot(&traceback_probation);
}

void endSharing(Thread& t) {
  t.state = t.unshared;
  if (t.state == ThreadState::Traced && t.level < format::kMaxSegments) {
    const std::uint64_t now = timeStamp();
    append(*segmentOf(t, t.level), format::RecordType::Timestamp, 0, &now, 1);
  }
  if (t.state == ThreadState::Probation)
    setSlot(&traceback_probation);
  else
    attach(t);
}

}  // namespace

void beginSharing() {
  if (!process.recording) return;
  if (inForkedChild()) childStarted(true);
  if (process.sandboxed) return share(thread(), {});
  const SignalsBlocked blocked(kAllButFaults);
  share(thread(), {});
}

void learnSharer(std::uint32_t tid, bool ofProcess) {
  Thread& t = thread();
  if (t.state != ThreadState::Shared || t.sharers > kMostSharers) return;
  for (unsigned i = 0; i < t.sharers; ++i) {
    if (t.sharer[i].tid != 0) continue;
    if (tid != 0)
      t.sharer[i] = {tid, ofProcess};
    else
      t.sharer[i] = t.sharer[--t.sharers];
    break;
  }
  if (t.sharers == 0) endSharing(t);
}

bool hasItsOwnRing(Thread& t, std::uint64_t stackPointer) {
  t.lastLook = processorTicks();
  t.lastStack = stackPointer;
  return process.sandboxed || t.ring == nullptr || rawTid() == t.ring->tid;
}

void noticeSharing(Thread& t, std::uint64_t stackPointer) {
  // A vfork child is in its parent's ring, which waits for it.
  if (!hasItsOwnRing(t, stackPointer) && inOwnProcess()) share(t, {rawTid(), true});
}

bool isTimeToNotice(const Thread& t, std::uint64_t stackPointer) {
  constexpr std::uint64_t kPause = 1 << 22, kNear = 1 << 18;  // ticks, bytes
  return processorTicks() - t.lastLook >= kPause || stackPointer - t.lastStack + kNear >= 2 * kNear;
}

Word* cursorOfSharer(Thread& t) {
  constexpr std::uint64_t kPause = 1 << 20;  // ticks: less than a millisecond
  resetProbation();
  const std::uint64_t now = processorTicks();
  if (now - t.lastLook < kPause || process.sandboxed || t.handlers != 0) return lastCursor();
  t.lastLook = now;
  const SignalsBlocked blocked(kAllButFaults);
  if ((t.ring != nullptr && rawTid() != t.ring->tid) || !areAllGone(t)) return lastCursor();
  endSharing(t);
  return nullptr;
}

}  // namespace traceback::inject
