#include "runtime/inject/signals/levels.h"

#include "runtime/inject/kernel/system.h"
#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/clock.h"
#include "runtime/inject/rings/ghost.h"
#include "runtime/inject/rings/rings.h"
#include "runtime/inject/rings/segment.h"

namespace traceback::inject {

namespace {

using format::RecordType;

void setLevel(Thread& t, unsigned level) {
  compilerBarrier();
  t.level = level;
  if (t.ring != nullptr)
    t.ring->header->level = level < format::kMaxSegments ? level : format::kMaxSegments - 1;
  compilerBarrier();
}

void useLevel(Thread& t, unsigned level) {
  if (level < format::kMaxSegments)
    setSlot(segmentOf(t, level));
  else
    enterDiscard(t);
  setLevel(t, level);
}

// Control came from the segment of `from` back to that of `to`, without a return.
void resumeAt(Thread& t, unsigned to, unsigned from) {
  if (to < format::kMaxSegments && from < format::kMaxSegments) {
    const std::uint64_t position = positionOf(*segmentOf(t, from));
    append(*segmentOf(t, to), RecordType::Resumption, static_cast<std::uint16_t>(from), &position, 1);
  } else if (to < format::kMaxSegments) {
    const std::uint64_t time = timeStamp();
    append(*segmentOf(t, to), RecordType::Gap, static_cast<std::uint16_t>(format::GapReason::NestedTooDeep),
           &time, 1);
    t.gapPending = false;
  }
  useLevel(t, to);
}

void writeSignalBegin(Thread& t, unsigned level, std::uint64_t sequence, int signal, const siginfo_t& info,
                      const ucontext_t& context, std::uint16_t flags) {
  using Field = format::SignalBeginField;
  std::uint64_t values[static_cast<unsigned>(Field::Count)];
  const auto set = [&values](Field field, std::uint64_t value) {
    values[static_cast<unsigned>(field)] = value;
  };
  const unsigned lower = level - 1;
  const SegmentHeader& interrupted = *segmentOf(t, lower);
  const std::uint64_t sender = info.si_code <= 0 ? static_cast<std::uint32_t>(info.si_pid) : 0u;
  set(Field::Time, timeStamp());
  set(Field::Pc, static_cast<std::uint64_t>(context.uc_mcontext.gregs[REG_RIP]));
  set(Field::FaultAddress, faultAddressOf(signal, info));
  set(Field::SenderOrCode, (sender << 32) | static_cast<std::uint32_t>(info.si_code));
  set(Field::Position, positionOf(interrupted));
  set(Field::Record, *cursorOf(interrupted));
  set(Field::Sequence, sequence);
  const auto detail = static_cast<std::uint16_t>(static_cast<unsigned>(signal) | flags |
                                                 (lower << format::kSignalSegmentShift));
  append(*segmentOf(t, level), RecordType::SignalBegin, detail, values, static_cast<unsigned>(Field::Count));
}

// In a child that was forked in a handler, which returns: the interrupted code may be within a DAG whose
// record is the parent's. What it still adds to that goes to probation, up to its next head.
void leaveForkingHandler(Thread& t) {
  if (t.state == ThreadState::Traced) {
    if (t.level != 0) resumeAt(t, 0, t.level);
    SegmentHeader& segment = *segmentOf(t, 0);
    const std::uint64_t time = timeStamp();
    append(segment, RecordType::Gap, static_cast<std::uint16_t>(format::GapReason::Forked), &time, 1);
  }
  if (t.state != ThreadState::Ended) setSlot(&traceback_probation);
}

}  // namespace

std::uint64_t faultAddressOf(int signal, const siginfo_t& info) {
  if (info.si_code <= 0) return 0;
  switch (signal) {
    case SIGSEGV:
    case SIGBUS:
    case SIGILL:
    case SIGFPE:
    case SIGTRAP:
      return reinterpret_cast<std::uint64_t>(info.si_addr);
    default:
      return 0;
  }
}

bool isAbandoned(const HandlerFrame& frame, std::uint64_t stackPointer) {
  const auto onAlternate = [&frame](std::uint64_t address) {
    return address >= frame.alternateStart && address < frame.alternateEnd;
  };
  // Two stacks cannot be compared: whoever is on the other one has left the alternate one, but may have
  // been called from the normal one.
  if (onAlternate(frame.stackPointer) != onAlternate(stackPointer)) return onAlternate(frame.stackPointer);
  return stackPointer > frame.stackPointer;
}

bool leaveAbandonedLevels(Thread& t, std::uint64_t stackPointer) {
  if (t.state != ThreadState::Traced) return false;
  unsigned level = t.level;
  while (level != 0 && isAbandoned(t.frames[level], stackPointer)) --level;
  if (level == t.level) return false;
  resumeAt(t, level, t.level);
  return true;
}

void expectJump() {
  Thread& t = thread();
  t.abortFrame = 0;
  if (inForkedChild()) return;
  if (t.level == 0) return;
  const SignalsBlocked blocked(kAllButFaults);  // for a handler might fork, and the child has another ring
  if (t.state != ThreadState::Traced || t.level == 0 || t.level >= format::kMaxSegments) return;
  setSlot(&traceback_probation);
}

void beginSignal(Interrupted& interrupted, int signal, const siginfo_t& info, const ucontext_t& context,
                 std::uint16_t flags) {
  Thread& t = thread();
  interrupted.levelTaken = false;
  saveSpills(interrupted.spills);
  interrupted.segment = slot();  // whoever was about to use probation comes to wrap, and on
  if (interrupted.segment == &traceback_probation) attach(t);
  interrupted.generation = process.generation;
  interrupted.level = t.level;
  interrupted.counted = t.state == ThreadState::Untraced || t.state == ThreadState::Shared;
  if (interrupted.counted) ++t.handlers;
  if (t.state != ThreadState::Traced || t.level >= kMaxLevel) return;

  const unsigned level = t.level + 1;
  const stack_t& stack = context.uc_stack;
  const auto start = reinterpret_cast<std::uint64_t>(stack.ss_sp);
  const bool none = (stack.ss_flags & SS_DISABLE) != 0;
  t.frames[level] = {reinterpret_cast<std::uint64_t>(&context), none ? 0 : start,
                     none ? 0 : start + stack.ss_size};
  const std::uint64_t sequence = t.ring->header->signalSequence++;
  useLevel(t, level);  // from here on a nested signal takes the next level
  interrupted.levelTaken = true;
  if (level < format::kMaxSegments)
    writeSignalBegin(t, level, sequence, signal, info, context, flags);
  else
    t.gapPending = true;
}

void endSignal(const Interrupted& interrupted, ucontext_t& context) {
  if (inForkedChild()) childStarted();
  Thread& t = thread();
  if (interrupted.generation != process.generation) {
    leaveForkingHandler(t);
    leaveGhost(context);
    restoreSpills(interrupted.spills);
    return;
  }
  if (interrupted.counted) --t.handlers;
  if (interrupted.levelTaken && t.state == ThreadState::Traced) {
    const unsigned level = interrupted.level + 1;
    if (t.level > level) resumeAt(t, level, t.level);  // a nested handler jumped back into this one
    if (level < format::kMaxSegments) {
      SegmentHeader& segment = *segmentOf(t, level);
      const std::uint64_t values[] = {timeStamp(),
                                      static_cast<std::uint64_t>(context.uc_mcontext.gregs[REG_RIP])};
      if (t.gapPending) {
        t.gapPending = false;
        append(segment, RecordType::Gap, static_cast<std::uint16_t>(format::GapReason::NestedTooDeep), values,
               1);
      }
      append(segment, RecordType::SignalEnd, 0, values, 2);
    }
    setLevel(t, interrupted.level);
  }
  // If the thread has ended meanwhile, its ring is gone; or it was lost.
  if (t.state == ThreadState::Shared)
    setSlot(&traceback_probation);
  else if (t.state == ThreadState::Untraced || t.state == ThreadState::Ended ||
           interrupted.segment == &t.discard)
    enterDiscard(t);
  else
    setSlot(interrupted.segment);
  restoreSpills(interrupted.spills);
}

}  // namespace traceback::inject
