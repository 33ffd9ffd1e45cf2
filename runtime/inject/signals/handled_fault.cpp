#include "runtime/inject/signals/handled_fault.h"

#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/clock.h"
#include "runtime/inject/rings/ring_table.h"
#include "runtime/inject/rings/rings.h"
#include "runtime/inject/rings/segment.h"
#include "runtime/inject/signals/levels.h"

namespace traceback::inject {

namespace {

bool isFault(int signal, const siginfo_t& info) {
  switch (signal) {
    case SIGSEGV:
    case SIGBUS:
    case SIGILL:
    case SIGFPE:
    case SIGTRAP:
    case SIGSYS:
      return info.si_code > 0;
    case SIGABRT:
      return info.si_code <= 0 && static_cast<std::uint32_t>(info.si_pid) == process.pid;
    default:
      return false;
  }
}

// Ten milliseconds or so, of the processor's ticks.
constexpr std::uint64_t kPause = std::uint64_t{1} << 25;
constinit std::uint64_t lastLook = 0;

bool lookAtOthers(const Thread& t) {
  const std::uint64_t now = processorTicks();
  std::uint64_t last = __atomic_load_n(&lastLook, __ATOMIC_RELAXED);
  if (now - last < kPause ||
      !__atomic_compare_exchange_n(&lastLook, &last, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    return false;
  noteWhereOthersAre(t.ring);
  return true;
}

}  // namespace

const HandledFault* handledFault(std::uint64_t stackPointer) {
  const Thread& t = thread();
  const HandledFault& fault = t.handled;
  if (fault.context == nullptr || t.state != ThreadState::Traced || t.level < fault.level) return nullptr;
  const HandlerFrame& frame = t.frames[fault.level];
  const bool isItsFrame = frame.stackPointer == reinterpret_cast<std::uint64_t>(fault.context);
  return isItsFrame && !isAbandoned(frame, stackPointer) ? &fault : nullptr;
}

const HandledFault* faultBehind(int signal, const ucontext_t& context) {
  const greg_t* registers = context.uc_mcontext.gregs;
  if (const auto* running = handledFault(static_cast<std::uint64_t>(registers[REG_RSP]))) return running;
  Thread& t = thread();
  const HandledFault& last = t.handled;
  const bool isSame = last.time != 0 && last.signal == static_cast<std::uint32_t>(signal) &&
                      last.pc == static_cast<std::uint64_t>(registers[REG_RIP]) &&
                      t.state == ThreadState::Traced && t.level == last.level - 1 &&
                      positionOf(*segmentOf(t, t.level)) == last.position;
  return isSame ? &last : nullptr;
}

FaultHandling::FaultHandling(int signal, const siginfo_t& info, const ucontext_t& context) {
  if (process.sandboxed || !isFault(signal, info)) return;
  Thread& t = thread();
  const bool hasLevel = t.state == ThreadState::Traced && t.level != 0 && t.level < format::kMaxSegments &&
                        t.frames[t.level].stackPointer == reinterpret_cast<std::uint64_t>(&context);
  if (!hasLevel || handledFault(reinterpret_cast<std::uint64_t>(__builtin_frame_address(0))) != nullptr)
    return;
  m_isKept = true;
  t.handled = {.context = &context,
               .time = timeStamp(),
               .pc = static_cast<std::uint64_t>(context.uc_mcontext.gregs[REG_RIP]),
               .address = faultAddressOf(signal, info),
               .signal = static_cast<std::uint32_t>(signal),
               .code = info.si_code,
               .position = positionOf(*segmentOf(t, t.level - 1)),
               .level = t.level,
               .othersSeen = false};
  t.handled.othersSeen = lookAtOthers(t);
}

FaultHandling::~FaultHandling() {
  if (m_isKept) thread().handled.context = nullptr;
}

}  // namespace traceback::inject
