// What the entries in wrap.S call: the thread's head probe found the sentinel. Answers with a cursor that has
// a word behind it for the probe to write.
#include "runtime/inject/clock.h"
#include "runtime/inject/collector.h"
#include "runtime/inject/hold.h"
#include "runtime/inject/levels.h"
#include "runtime/inject/process.h"
#include "runtime/inject/ring_history.h"
#include "runtime/inject/rings.h"
#include "runtime/inject/segment.h"
#include "runtime/inject/sharing.h"
#include "runtime/inject/system.h"
#include "runtime/inject/thread.h"

using namespace traceback::inject;

namespace {

Word* freshCursor(std::uint64_t stackPointer) {
  if (inForkedChild()) childStarted();
  Thread& t = thread();
  if (traceback_probation.cursor != traceback_probation.base)
    __atomic_store_n(&traceback_probation.cursor, traceback_probation.base, __ATOMIC_RELAXED);
  if (slot() == &traceback_probation || t.state == ThreadState::Probation) {
    attach(t);
    if (t.state == ThreadState::Traced) startWatcher();
  }
  attachLate(t);
  leaveAbandonedLevels(t, stackPointer);
  SegmentHeader* segment = slot();
  if (segment != &t.discard && t.state == ThreadState::Traced && atSubBufferEnd(*segment)) {
    noticeSharing(t);
    if (t.state == ThreadState::Shared) return cursorOfSharer(t);
  }
  if (segment != &t.discard && t.state == ThreadState::Traced) {
    stopIfHeld(t, *segment, 1);
    if (t.level == 0) keepHistory(*t.ring, *segment);
    const bool astray = isAstray(*segment);
    Word* const cursor = cursorForHead(*segment);
    if (__builtin_expect(!astray, 1)) return cursor;
    const std::uint64_t time = timeStamp();
    append(*segment, traceback::format::RecordType::Gap,
           static_cast<std::uint16_t>(traceback::format::GapReason::HandlerNotWrapped), &time, 1);
    return cursorForHead(*segment);
  }
  enterDiscard(t);
  return cursorOf(t.discard);
}

}  // namespace

// No handler of the program's runs in between: it might fork, and the child's thread has no ring.
extern "C" [[gnu::used]] Word* traceback_wrap(std::uint64_t stackPointer) {
  if (thread().state == ThreadState::Shared && !inForkedChild())
    if (Word* const cursor = cursorOfSharer(thread())) return cursor;
  if (process.sandboxed) return freshCursor(stackPointer);
  const SignalsBlocked blocked(kAllButFaults);
  return freshCursor(stackPointer);
}
