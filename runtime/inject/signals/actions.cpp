#include "runtime/inject/signals/actions.h"

#include <errno.h>
#include <signal.h>

#include "runtime/inject/kernel/lock.h"
#include "runtime/inject/kernel/system.h"
#include "runtime/inject/libc/libc.h"
#include "runtime/inject/process/process.h"
#include "runtime/inject/signals/fault.h"
#include "runtime/inject/signals/handlers.h"
#include "runtime/inject/signals/held_faults.h"
#include "runtime/inject/signals/mask.h"
#include "runtime/inject/snaps/policy_file.h"

namespace traceback::inject {

namespace {

inline constexpr std::uint64_t kDefault = 0, kIgnore = 1;
inline constexpr std::uint64_t kRestorerFlag = 0x0400'0000;

struct Remembered {
  Action program;
  Action lastHandler;  // the last real handler: for a signal that arrived just before it was replaced
};
// Written under the lock, read in handlers without, and by whoever interrupts a writer: what counts is the
// one that `version`, modulo two, names, and the other is written.
struct Entry {
  std::uint64_t version;
  Remembered states[2];

  const Remembered& now() const { return states[version & 1]; }
};
constinit Entry entries[kSignals + 1];
constinit Lock lock;
constinit std::uint64_t changerBehindFilter = 0;  // the thread pointer of who changes one there
constinit bool watched = false;
constinit std::uint64_t restorer = 0;       // libc's, so that unwinders know it
constinit std::uint64_t knownFlags = 0;     // that the kernel keeps

long kernelSigaction(int signal, const Action* next, Action* previous) {
  return systemCall(__NR_rt_sigaction, signal, asLong(next), asLong(previous), 8);
}

// By default: whoever asks to snap the others asks in vain.
bool endsProcess(int signal) {
  switch (signal) {
    case SIGCHLD:
    case SIGCONT:
    case SIGURG:
    case SIGWINCH:
    case SIGSTOP:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
      return false;
    default:
      return true;
  }
}

bool isHandler(const Action& action) { return action.handler != kDefault && action.handler != kIgnore; }

Action kernelActionFor(int signal, const Action& program) {
  if (isHandler(program)) {
    Action action = program;
    action.handler = reinterpret_cast<std::uint64_t>(&runHandler);
    action.flags = program.flags | SA_SIGINFO | kRestorerFlag;
    action.restorer = restorer;
    // Behind a filter, which may end the process for any other call, the kernel does all of it.
    if (process.sandboxed) return action;
    action.flags &= ~std::uint64_t{SA_RESETHAND};
    action.mask = kAllButFaults;  // until runHandler() lets in what the program's own mask does
    return action;
  }
  if (program.handler == kDefault && isFatal(signal))
    return {reinterpret_cast<std::uint64_t>(&meetFault),
            SA_SIGINFO | SA_ONSTACK | kRestorerFlag | (process.sandboxed ? SA_RESETHAND : 0u), restorer,
            kAllButFaults};
  return program;
}

void remember(Entry& entry, const Action& program) {
  const std::uint64_t version = entry.version + 1;
  Remembered& next = entry.states[version & 1];
  next = entry.now();
  next.program = program;
  if (isHandler(program)) next.lastHandler = program;
  __atomic_store_n(&entry.version, version, __ATOMIC_SEQ_CST);
}

Action asKept(Action action) {
  action.flags &= knownFlags | kRestorerFlag;
  action.mask &= ~kNeverBlocked;
  return action;
}

// An action that was read from the kernel by a call that did not come by us has our handler in it: meant is
// what the program had, whose flags and mask then are its own, too.
Action meant(const Entry& entry, const Action& wanted) {
  if (wanted.handler == reinterpret_cast<std::uint64_t>(&runHandler))
    return isHandler(entry.now().program) ? entry.now().program : entry.now().lastHandler;
  if (wanted.handler == reinterpret_cast<std::uint64_t>(&meetFault)) return {};
  return wanted;
}

// A vfork child, or what else has this memory and actions of its own: what is remembered is not of its
// signals.
bool isSharedByAnotherProcess() { return !process.sandboxed && !inForkedChild() && !inOwnProcess(); }

// So the kernel alone knows these. What they were when the child began is remembered, for they are its
// maker's.
long setInAnotherProcess(int signal, const Action* next, Action* previous) {
  const Action makers = entries[signal].now().program;
  Action before{};
  if (const long result = kernelSigaction(signal, nullptr, &before); failed(result)) return result;
  if (before.handler == reinterpret_cast<std::uint64_t>(&runHandler))
    before = makers;
  else if (before.handler == reinterpret_cast<std::uint64_t>(&meetFault))
    before = isHandler(makers) ? Action{} : makers;
  if (next != nullptr) {
    Action wanted = asKept(*next);
    if (isHandler(wanted) && wanted.handler == makers.handler) wanted = kernelActionFor(signal, wanted);
    if (const long result = kernelSigaction(signal, &wanted, nullptr); failed(result)) return result;
  }
  if (previous != nullptr) *previous = before;
  return 0;
}

// Learns libc's restorer and the flags that this kernel keeps, on the last real-time signal.
bool probeKernel() {
  constexpr int kProbe = kSignals;
  Action before{}, seen{};
  if (failed(kernelSigaction(kProbe, nullptr, &before))) return false;
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  const bool set =
      libc.sigaction(kProbe, &ignore, nullptr) == 0 && !failed(kernelSigaction(kProbe, nullptr, &seen));
  restorer = seen.restorer;
  const Action all{kIgnore, ~std::uint64_t{0}, restorer, 0};
  if (!failed(kernelSigaction(kProbe, &all, nullptr))) kernelSigaction(kProbe, nullptr, &seen);
  knownFlags = seen.flags;
  kernelSigaction(kProbe, &before, nullptr);
  return set && restorer != 0;
}

}  // namespace

bool isFatal(int signal) {
  if ((policy().ignoreSignals & bitOf(signal)) != 0) return false;
  if ((policy().snapSignals & bitOf(signal)) != 0) return endsProcess(signal);
  switch (signal) {
    case SIGSEGV:
    case SIGBUS:
    case SIGILL:
    case SIGFPE:
    case SIGTRAP:
    case SIGSYS:
    case SIGABRT:
    case SIGQUIT:
    case SIGXCPU:
    case SIGXFSZ:
      return true;
    default:
      return false;
  }
}

void watchSignals() {
  if (watched || libc.sigaction == nullptr) return;
  Locked locked(lock);
  if (watched || !probeKernel()) return;
  std::uint64_t fatal = 0;
  for (int signal = 1; signal <= kSignals; ++signal) {
    if (signal == SIGKILL || signal == SIGSTOP || signal == 32 || signal == 33)
      continue;  // 32, 33: libc's own
    Action present{};
    if (failed(kernelSigaction(signal, nullptr, &present))) continue;
    remember(entries[signal], present);
    const Action action = kernelActionFor(signal, present);
    if (action.handler != present.handler) kernelSigaction(signal, &action, nullptr);
    if (isFatal(signal)) fatal |= bitOf(signal);
  }
  beginHolding(fatal);
  __atomic_store_n(&watched, true, __ATOMIC_RELEASE);
}

bool signalsWatched() { return __atomic_load_n(&watched, __ATOMIC_ACQUIRE); }

std::uint64_t libcRestorer() { return restorer; }

namespace {

// Under the lock.
long setInOwnProcess(int signal, const Action* next, Action* previous) {
  Entry& entry = entries[signal];
  const Action before = entry.now().program;
  if (next != nullptr) {
    const Action wanted = asKept(meant(entry, *next));
    // First what a handler would look up, then the handler.
    if (isHandler(wanted)) remember(entry, wanted);
    const Action action = kernelActionFor(signal, wanted);
    const long result = kernelSigaction(signal, &action, nullptr);
    if (failed(result)) {
      remember(entry, before);
      return result;
    }
    if (!isHandler(wanted)) remember(entry, wanted);
  }
  if (previous != nullptr) *previous = before;
  return 0;
}

// Behind a filter signals may not be blocked meanwhile, nor may anybody sleep. Whose handler interrupts its
// own change tells the kernel alone, as if it had come before.
long setBehindFilter(int signal, const Action* next, Action* previous) {
  std::uint64_t self, changer = 0;
  __asm__("movq %%fs:0, %0" : "=r"(self));
  while (!__atomic_compare_exchange_n(&changerBehindFilter, &changer, self, false, __ATOMIC_ACQUIRE,
                                      __ATOMIC_RELAXED)) {
    if (changer == self) return setInAnotherProcess(signal, next, previous);
    changer = 0;
    __builtin_ia32_pause();
  }
  while (!lock.tryLock()) __builtin_ia32_pause();  // who has had it since before the filter
  const long result = setInOwnProcess(signal, next, previous);
  lock.unlock();
  __atomic_store_n(&changerBehindFilter, std::uint64_t{0}, __ATOMIC_RELEASE);
  return result;
}

}  // namespace

long programSigaction(int signal, const Action* next, Action* previous) {
  if (signal < 1 || signal > kSignals || signal == 32 || signal == 33) return -EINVAL;
  if (signal == SIGKILL || signal == SIGSTOP) return kernelSigaction(signal, next, previous);
  if (isSharedByAnotherProcess()) return setInAnotherProcess(signal, next, previous);
  if (process.sandboxed) return setBehindFilter(signal, next, previous);
  const Locked locked(lock);
  return setInOwnProcess(signal, next, previous);
}

Action actionAtArrival(int signal) {
  Entry& entry = entries[signal];
  Remembered then;
  std::uint64_t version;
  do {
    version = __atomic_load_n(&entry.version, __ATOMIC_ACQUIRE);
    then = entry.states[version & 1];
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
  } while (version != __atomic_load_n(&entry.version, __ATOMIC_RELAXED));
  const Action& program = then.program;
  if (!isHandler(program)) return then.lastHandler;
  if ((program.flags & SA_RESETHAND) != 0) {
    if (isSharedByAnotherProcess()) {
      Action once = program;
      once.handler = kDefault;
      kernelSigaction(signal, &once, nullptr);
      return program;
    }
    if (process.sandboxed) {
      // The kernel has done it. Who has the lock changes this action, or another one; this one's would then
      // be told wrongly.
      if (!lock.tryLock()) return program;
      Action now = entry.now().program;
      now.handler = now.handler == program.handler ? kDefault : now.handler;
      remember(entry, now);
      lock.unlock();
      return program;
    }
    Locked locked(lock);
    Action now = entry.now().program;
    if (now.handler == program.handler && (now.flags & SA_RESETHAND) != 0) {
      now.handler = kDefault;
      remember(entry, now);
      const Action action = kernelActionFor(signal, now);
      kernelSigaction(signal, &action, nullptr);
    }
  }
  return program;
}

void prepareSandbox() {
  if (!signalsWatched()) return;
  Locked locked(lock);
  for (int signal = 1; signal <= kSignals; ++signal) {
    const Action program = entries[signal].now().program;
    if (!isHandler(program) && (program.handler != kDefault || !isFatal(signal))) continue;
    const Action action = kernelActionFor(signal, program);
    kernelSigaction(signal, &action, nullptr);
  }
}

void setKernelDefault(int signal) {
  const Action action{};
  kernelSigaction(signal, &action, nullptr);
}

void meetIgnoredAbort() {
  if (!signalsWatched() || process.sandboxed || isSharedByAnotherProcess() || !isFatal(SIGABRT)) return;
  const Locked locked(lock);
  if (entries[SIGABRT].now().program.handler != kIgnore) return;
  const Action action = kernelActionFor(SIGABRT, {});
  kernelSigaction(SIGABRT, &action, nullptr);
}

void forgetActionLock() {
  lock = Lock();
  changerBehindFilter = 0;
}

}  // namespace traceback::inject
