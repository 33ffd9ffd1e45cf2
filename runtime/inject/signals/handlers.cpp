#include "runtime/inject/signals/handlers.h"

#include <errno.h>
#include <ucontext.h>

#include "runtime/inject/libc/masked_wait.h"
#include "runtime/inject/modules/brought_cursors.h"
#include "runtime/inject/modules/copy_addresses.h"
#include "runtime/inject/modules/routines.h"
#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/rings.h"
#include "runtime/inject/rings/wrap.h"
#include "runtime/inject/signals/abort.h"
#include "runtime/inject/signals/actions.h"
#include "runtime/inject/signals/alternate_stack.h"
#include "runtime/inject/signals/fault.h"
#include "runtime/inject/signals/handled_fault.h"
#include "runtime/inject/signals/held_faults.h"
#include "runtime/inject/signals/levels.h"
#include "runtime/inject/signals/mask.h"
#include "runtime/inject/signals/own_fault.h"

// In handler.S.
extern "C" void traceback_call_handler(int, siginfo_t*, void* context, std::uint64_t handler,
                                       std::uint64_t pc, std::uint64_t shown);
extern "C" const char traceback_handler_returns[];
// From the linker: where the runtime's code is.
extern "C" [[gnu::visibility("hidden")]] const char __ehdr_start[], etext[];

namespace traceback::inject {

namespace {

void* originalOf(void* address) {
  return reinterpret_cast<void*>(originalAddress(reinterpret_cast<std::uint64_t>(address)));
}

// While it lives the program's handler sees original addresses. What it changes stays changed.
class OriginalAddresses {
 public:
  OriginalAddresses(int signal, siginfo_t& info, ucontext_t& context) : m_context(context) {
    greg_t& pc = context.uc_mcontext.gregs[REG_RIP];
    m_copy = static_cast<std::uint64_t>(pc);
    m_shown = originalAddress(m_copy);
    pc = static_cast<greg_t>(m_shown);
    // These say where the instruction is.
    if ((signal == SIGILL || signal == SIGFPE || signal == SIGTRAP) && info.si_code > 0)
      info.si_addr = originalOf(info.si_addr);
    if (signal == SIGSYS && info.si_code > 0) info.si_call_addr = originalOf(info.si_call_addr);
    m_stackHidden = hideAlternateStack(thread(), context, m_stack);
  }
  ~OriginalAddresses() {
    greg_t& pc = m_context.uc_mcontext.gregs[REG_RIP];
    if (static_cast<std::uint64_t>(pc) == m_shown)
      pc = static_cast<greg_t>(m_copy);
    else
      distrustCallees();  // the thread goes on in original code, and that may return to a copy
    if (m_stackHidden) showAlternateStack(m_context, m_stack);
  }
  std::uint64_t copy() const { return m_copy; }
  std::uint64_t shown() const { return m_shown; }
  OriginalAddresses(const OriginalAddresses&) = delete;
  OriginalAddresses& operator=(const OriginalAddresses&) = delete;

 private:
  ucontext_t& m_context;
  std::uint64_t m_copy, m_shown;
  stack_t m_stack;
  bool m_stackHidden;
};

// Whether the signal ended a call that waits with a mask of its own: the thread stands right behind the
// system call that failed for it.
bool interruptsMaskedWait(const ucontext_t& context) {
  const greg_t* registers = context.uc_mcontext.gregs;
  return thread().waitMask.inForce && registers[REG_RAX] == -EINTR &&
         isBehindSystemCall(static_cast<std::uint64_t>(registers[REG_RIP]));
}

// What the kernel would have blocked while the program's handler runs.
std::uint64_t maskOf(const Action& action, int signal, const ucontext_t& context, bool inWait) {
  const std::uint64_t interrupted = inWait ? thread().waitMask.blocked : bitsOf(context.uc_sigmask);
  const std::uint64_t itself = (action.flags & SA_NODEFER) != 0 ? 0 : bitOf(signal);
  return interrupted | action.mask | itself;
}

// Behind a filter the kernel has set the program's own already (actions.cpp).
void setMask(const std::uint64_t& mask) {
  if (process.sandboxed) return;
  systemCall(__NR_rt_sigprocmask, 2 /* SIG_SETMASK */, asLong(&mask), 0, 8);
}

}  // namespace

// Comes with all signals blocked that the runtime does not cause itself (actions.cpp, own_fault.h), and lets
// them in only around the program's handler: a signal that interrupted what is done here before the level is
// taken, or after it is given back, would write down that it interrupted the runtime, and nobody could tell
// where in its path the program then was. (Behind a filter that doubt is left: nothing may be asked of the
// kernel.)
void runHandler(int signal, siginfo_t* info, void* data) {
  auto& context = *static_cast<ucontext_t*>(data);
  if (isOwnFault(signal, *info, context) || isPutOffAsHeld(signal, *info, context)) return;
  if (isHeld(signal)) return meetFault(signal, info, data);
  leaveWrap(signal, *info, context);
  leaveRoutine(context);
  const Action action = actionAtArrival(signal);
  if (action.handler <= 1) return;  // never handled: cannot happen
  const greg_t pc = context.uc_mcontext.gregs[REG_RIP];
  Interrupted interrupted;
  beginSignal(interrupted, signal, *info, context, format::kSignalHandled);
  {
    const FaultHandling handling(signal, *info, context);
    const OriginalAddresses shown(signal, *info, context);
    const HandlersMask masked(context);
    const bool inWait = interruptsMaskedWait(context);
    const std::uint64_t mask = HandlersMask::enter(maskOf(action, signal, context, inWait));
    const OutsideWait outside(inWait);
    setMask(mask);
    // Whoever unwinds comes to the copy: what catches an exception there goes on being recorded.
    traceback_call_handler(signal, info, data, action.handler, shown.copy(), shown.shown());
    setMask(kAllButFaults);
  }
  endSignal(interrupted, context);
  if (isInAbort(signal, context) && context.uc_mcontext.gregs[REG_RIP] == pc) meetFault(signal, info, data);
}

bool isRuntimeCode(std::uint64_t address) {
  return address >= reinterpret_cast<std::uint64_t>(__ehdr_start) &&
         address < reinterpret_cast<std::uint64_t>(etext);
}

bool isHandlerReturn(std::uint64_t address) {
  return address == reinterpret_cast<std::uint64_t>(traceback_handler_returns);
}

}  // namespace traceback::inject

// The personality of the frame in handler.S (Itanium C++ ABI: Exception Handling, 1.6): called when an
// exception, or a thread's cancellation, leaves the handler.
extern "C" [[gnu::used]] int traceback_handler_is_left(int, int actions, std::uint64_t, void*, void*) {
  constexpr int kCleanupPhase = 2, kContinueUnwind = 8;
  if ((actions & kCleanupPhase) != 0) traceback::inject::expectJump();
  return kContinueUnwind;
}
