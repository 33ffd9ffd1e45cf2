// What the entries in wrap.S call: the thread's head probe found the sentinel.
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

Word* freshWord(std::uint64_t stackPointer) {
  if (inForkedChild()) childStarted();
  Thread& t = thread();
  if (traceback_probation.cursor != traceback_probation.base)
    __atomic_store_n(&traceback_probation.cursor, traceback_probation.base, __ATOMIC_RELAXED);
  if (slot() == &traceback_probation || t.state == ThreadState::Probation) {
    attach(t);
    if (t.state == ThreadState::Traced) startWatcher();
  }
  attachLate(t);
  if (t.state == ThreadState::Traced) {
    if (slot() != &t.discard) forgetEarlySentinel(*slot());
    leaveAbandonedLevels(t, stackPointer);
  }
  SegmentHeader* segment = slot();
  if (segment != &t.discard && t.state == ThreadState::Traced && atSubBufferEnd(*segment)) {
    noticeSharing(t);
    if (t.state == ThreadState::Shared) return wordOfSharer(t);
  }
  if (segment != &t.discard && t.state == ThreadState::Traced) {
    stopIfHeld(t, *segment, 2);
    if (t.level == 0) keepHistory(*t.ring, *segment);
    return claimWord(*segment);
  }
  enterDiscard(t);
  return cursorOf(t.discard);
}

}  // namespace

// No handler of the program's runs in between: it might fork, and the child's thread has no ring.
extern "C" [[gnu::used]] Word* traceback_wrap(std::uint64_t stackPointer) {
  if (thread().state == ThreadState::Shared && !inForkedChild())
    if (Word* const word = wordOfSharer(thread())) return word;
  if (process.sandboxed) return freshWord(stackPointer);
  const SignalsBlocked blocked(kAllButFaults);
  return freshWord(stackPointer);
}
