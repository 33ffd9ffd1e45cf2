#include "runtime/inject/rings/wrap.h"

#include <span>

#include "runtime/inject/kernel/system.h"
#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/clock.h"
#include "runtime/inject/rings/hold.h"
#include "runtime/inject/rings/ring_history.h"
#include "runtime/inject/rings/rings.h"
#include "runtime/inject/rings/segment.h"
#include "runtime/inject/rings/sharing.h"
#include "runtime/inject/rings/thread.h"
#include "runtime/inject/signals/handlers.h"
#include "runtime/inject/signals/held_faults.h"
#include "runtime/inject/signals/levels.h"
#include "runtime/inject/snaps/collector.h"

using namespace traceback::inject;

namespace {

Word* freshCursor(std::uint64_t stackPointer) {
  if (inForkedChild()) childStarted();
  Thread& t = thread();
  resetProbation();
  if (slot() == &traceback_probation || t.state == ThreadState::Probation) {
    attach(t);
    if (t.state == ThreadState::Traced) startWatcher();
  }
  attachLate(t);
  leaveAbandonedLevels(t, stackPointer);
  SegmentHeader* segment = slot();
  if (segment != &t.discard && t.state == ThreadState::Traced) {
    noticeSharing(t, stackPointer);
    if (t.state == ThreadState::Shared) return cursorOfSharer(t);
  }
  if (segment != &t.discard && t.state == ThreadState::Traced) {
    stopIfHeld(t, *segment, 1);
    if (t.level == 0) keepHistory(t, *segment);
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

std::uint64_t stackPointerAbove(std::uint64_t frame) { return frame + kWrapFrameSize; }

// The cursor, whatever it takes.
Word* anyCursor(std::uint64_t stackPointer) {
  if (thread().state == ThreadState::Shared && !inForkedChild())
    if (Word* const cursor = cursorOfSharer(thread())) return cursor;
  if (process.sandboxed) return freshCursor(stackPointer);
  const bool recorded = thread().state == ThreadState::Traced;
  Word* cursor;
  std::uint64_t mask;
  {
    // No handler of the program's runs in between: it might fork, and the child's thread has no ring.
    const SignalsBlocked blocked(kAllButFaults);
    mask = blocked.before();
    cursor = freshCursor(stackPointer);
  }
  if (!recorded && thread().state == ThreadState::Traced) holdBlocked(mask);
  return cursor;
}

// A probe may have the address of its segment's header in a register besides, where it is to store the
// cursor. Nobody but probes knows such an address, so the register need not be named.
void putHeader(std::uint64_t* registers, const SegmentHeader* before, const SegmentHeader* now) {
  for (std::uint64_t& value : std::span(registers, kWrapRegisters))
    if (value == reinterpret_cast<std::uint64_t>(before)) value = reinterpret_cast<std::uint64_t>(now);
}

// Null if there may be more to do than to step.
Word* stepQuickly(Thread& t, std::uint64_t stackPointer) {
  SegmentHeader* const segment = slot();
  if (t.state != ThreadState::Traced || t.level != 0 || segment != segmentOf(t, 0)) return nullptr;
  if (process.sandboxed || process.environment.historyCounts || areAnyHeld()) return nullptr;
  if (!atSubBufferEnd(*segment) || isAstray(*segment)) return nullptr;
  if (isTimeToNotice(t, stackPointer) &&
      (segment->ordinal >= t.history.due || !hasItsOwnRing(t, stackPointer)))
    return nullptr;
  return cursorForHead(*segment);
}

}  // namespace

extern "C" [[gnu::used]] Word* traceback_step(std::uint64_t frame, std::uint32_t scratch, bool keepsCursor) {
  if (inForkedChild()) return nullptr;
  Thread& t = thread();
  t.step.scratch = scratch;
  t.step.keepsCursor = keepsCursor;
  compilerBarrier();
  t.step.frame = frame;  // from here on it may be interrupted
  compilerBarrier();
  Word* const cursor = stepQuickly(t, stackPointerAbove(frame));
  compilerBarrier();
  t.step.frame = 0;
  return cursor;
}

extern "C" [[gnu::used]] Word* traceback_wrap(std::uint64_t stackPointer, std::uint64_t* registers) {
  thread().step.frame = 0;
  const SegmentHeader* const before = slot();
  Word* const cursor = anyCursor(stackPointer);
  if (slot() != before && registers != nullptr) putHeader(registers, before, slot());
  return cursor;
}

namespace traceback::inject {

void leaveWrap(int signal, const siginfo_t& info, ucontext_t& context) {
  greg_t* const registers = context.uc_mcontext.gregs;
  if (inForkedChild() || !isRuntimeCode(static_cast<std::uint64_t>(registers[REG_RIP]))) return;
  Thread& t = thread();
  const Step step = t.step;
  const std::uint64_t below = step.frame - static_cast<std::uint64_t>(registers[REG_RSP]);
  constexpr std::uint64_t kMostBelow = 1024;
  if (step.frame == 0 || below > kMostBelow) return;
  t.step.frame = 0;
  // The step's own fault: it is met again there.
  if ((signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE) && info.si_code > 0)
    return;
  auto* saved = reinterpret_cast<std::uint64_t*>(step.frame);
  const std::uint64_t stackPointer = stackPointerAbove(step.frame);
  const Word* const cursor = traceback_wrap(stackPointer, saved);
  saved[step.scratch] = reinterpret_cast<std::uint64_t>(cursor);
  // In the order of the frame.
  constexpr int kRegisters[] = {REG_R15, REG_R14, REG_R13, REG_R12, REG_R11, REG_R10, REG_R9, REG_R8,
                                REG_RBP, REG_RDI, REG_RSI, REG_RBX, REG_RCX, REG_RDX, REG_RAX};
  for (const int number : kRegisters) registers[number] = static_cast<greg_t>(*saved++);
  // Whoever steps the thread has set the trap flag for himself.
  constexpr std::uint64_t kTrap = 1 << 8;
  const auto flags = static_cast<std::uint64_t>(registers[REG_EFL]);
  registers[REG_EFL] = static_cast<greg_t>((*saved++ & ~kTrap) | (flags & kTrap));
  registers[REG_RIP] = static_cast<greg_t>(*saved);
  registers[REG_RSP] = static_cast<greg_t>(stackPointer);
  if (step.keepsCursor) putKeptCursor(context, cursor);
}

void divertCursors(ucontext_t& context, std::uint64_t ring, std::uint64_t size) {
  const auto leadsThere = [=](std::uint64_t value) {
    return value - ring >= traceback::format::kRingHeaderSize && value - ring < size;
  };
  const Word* const last = lastCursor();
  for (int number = REG_R8; number <= REG_RCX; ++number) {
    greg_t& value = context.uc_mcontext.gregs[number];
    if (leadsThere(static_cast<std::uint64_t>(value))) value = reinterpret_cast<greg_t>(last);
  }
  if (context.uc_mcontext.fpregs == nullptr) return;
  std::uint64_t kept;
  memcpy(&kept, &context.uc_mcontext.fpregs->_xmm[15], sizeof kept);
  if (leadsThere(kept)) putKeptCursor(context, last);
}

}  // namespace traceback::inject
