// The functions of libc that the library stands in front of. What each does to the caller, errno
// included, is what libc's own does.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "runtime/inject/kernel/system.h"
#include "runtime/inject/libc/libc.h"
#include "runtime/inject/modules/modules.h"
#include "runtime/inject/process/following.h"
#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/ring_table.h"
#include "runtime/inject/rings/sharing.h"
#include "runtime/inject/signals/abort.h"
#include "runtime/inject/signals/actions.h"
#include "runtime/inject/signals/alternate_stack.h"
#include "runtime/inject/signals/fault.h"
#include "runtime/inject/signals/held_faults.h"
#include "runtime/inject/signals/levels.h"
#include "runtime/inject/signals/mask.h"
#include "runtime/inject/snaps/trigger.h"

using namespace traceback::inject;

namespace {

inline constexpr std::uint64_t kRestorerFlag = 0x0400'0000;

constinit std::uint64_t interrupting = 0;  // signals for which siginterrupt asked that calls be interrupted

bool isSignal(int signal) { return signal >= 1 && signal <= kSignals; }

int answer(long result) {
  if (!failed(result)) return static_cast<int>(result);
  setErrno(static_cast<int>(-result));
  return -1;
}

Action fromProgram(const struct sigaction& action) {
  Action result{};
  result.handler = reinterpret_cast<std::uint64_t>(action.sa_handler);
  result.flags = static_cast<std::uint64_t>(static_cast<std::int64_t>(action.sa_flags)) | kRestorerFlag;
  result.restorer = libcRestorer();
  result.mask = bitsOf(action.sa_mask);
  return result;
}

void toProgram(const Action& action, struct sigaction& result) {
  result.sa_handler = reinterpret_cast<sighandler_t>(action.handler);
  result.sa_flags = static_cast<int>(action.flags);
  memset(&result.sa_mask, 0, sizeof result.sa_mask);
  putBits(result.sa_mask, action.mask);
  result.sa_restorer = reinterpret_cast<void (*)()>(action.restorer);
}

int actOn(int signal, const struct sigaction* next, struct sigaction* previous) {
  if (!signalsWatched()) {
    findLibc();
    return libc.sigaction(signal, next, previous);
  }
  Action wanted{}, before{};
  if (next != nullptr) wanted = fromProgram(*next);
  const long result = programSigaction(signal, next == nullptr ? nullptr : &wanted, &before);
  if (failed(result)) return answer(result);
  if (previous != nullptr) toProgram(before, *previous);
  return 0;
}

sighandler_t setHandler(int signal, sighandler_t handler, std::uint64_t mask, int flags) {
  if (handler == SIG_ERR || !isSignal(signal)) {
    setErrno(EINVAL);
    return SIG_ERR;
  }
  struct sigaction next, previous;
  memset(&next, 0, sizeof next);
  next.sa_handler = handler;
  next.sa_flags = flags;
  putBits(next.sa_mask, mask);
  return actOn(signal, &next, &previous) < 0 ? SIG_ERR : previous.sa_handler;
}

sighandler_t setByBsdRules(int signal, sighandler_t handler) {
  if (!isSignal(signal)) return setHandler(signal, handler, 0, 0);
  const bool interrupts = (__atomic_load_n(&interrupting, __ATOMIC_RELAXED) & bitOf(signal)) != 0;
  return setHandler(signal, handler, bitOf(signal), interrupts ? 0 : SA_RESTART);
}

sighandler_t setBySystemVRules(int signal, sighandler_t handler) {
  constexpr int kInterrupt = 0x2000'0000;
  return setHandler(signal, handler, 0, static_cast<int>(SA_RESETHAND | SA_NODEFER | kInterrupt));
}

void enterSandbox() {
  if (process.sandboxed || inForkedChild() || !process.recording) return;
  reserveRings(true);
  blockAllHeld();
  noteReach();
  process.sandboxed = true;
  prepareSandbox();
}

void endProcess(int status) {
  letFaultEndProcess();
  if (!collectHandledFault()) {
    meetExit(status);
    removeProcessFolder();
  }
  for (;;) systemCall(__NR_exit_group, status);
}

}  // namespace

#define EXPORTED extern "C" [[gnu::visibility("default")]]

EXPORTED int sigaction(int signal, const struct sigaction* next, struct sigaction* previous) noexcept {
  return actOn(signal, next, previous);
}
EXPORTED int __sigaction(int signal, const struct sigaction* next, struct sigaction* previous) noexcept {
  return actOn(signal, next, previous);
}

EXPORTED sighandler_t signal(int number, sighandler_t handler) noexcept {
  return setByBsdRules(number, handler);
}
EXPORTED sighandler_t bsd_signal(int number, sighandler_t handler) noexcept {
  return setByBsdRules(number, handler);
}
EXPORTED sighandler_t ssignal(int number, sighandler_t handler) noexcept {
  return setByBsdRules(number, handler);
}
EXPORTED sighandler_t sysv_signal(int number, sighandler_t handler) noexcept {
  return setBySystemVRules(number, handler);
}
EXPORTED sighandler_t __sysv_signal(int number, sighandler_t handler) noexcept {
  return setBySystemVRules(number, handler);
}

EXPORTED int sigignore(int number) noexcept {
  struct sigaction next;
  memset(&next, 0, sizeof next);
  next.sa_handler = SIG_IGN;
  return actOn(number, &next, nullptr);
}

EXPORTED int siginterrupt(int number, int interrupt) noexcept {
  struct sigaction action;
  if (actOn(number, nullptr, &action) < 0) return -1;
  if (interrupt != 0) {
    __atomic_fetch_or(&interrupting, bitOf(number), __ATOMIC_RELAXED);
    action.sa_flags &= ~SA_RESTART;
  } else {
    __atomic_fetch_and(&interrupting, ~bitOf(number), __ATOMIC_RELAXED);
    action.sa_flags |= SA_RESTART;
  }
  return actOn(number, &action, nullptr);
}

EXPORTED sighandler_t sigset(int number, sighandler_t disposition) noexcept {
  const auto hold = reinterpret_cast<sighandler_t>(2);  // SIG_HOLD
  if (disposition == SIG_ERR || !isSignal(number)) {
    setErrno(EINVAL);
    return SIG_ERR;
  }
  sigset_t itself, before;
  sigemptyset(&itself);
  if (sigaddset(&itself, number) < 0) return SIG_ERR;
  struct sigaction previous;
  if (disposition == hold) {
    sigprocmask(SIG_BLOCK, &itself, &before);
    if (sigismember(&before, number) == 1) return hold;
    return actOn(number, nullptr, &previous) < 0 ? SIG_ERR : previous.sa_handler;
  }
  struct sigaction next;
  memset(&next, 0, sizeof next);
  next.sa_handler = disposition;
  if (actOn(number, &next, &previous) < 0) return SIG_ERR;
  sigprocmask(SIG_UNBLOCK, &itself, &before);
  return sigismember(&before, number) == 1 ? hold : previous.sa_handler;
}

EXPORTED int sigaltstack(const stack_t* next, stack_t* previous) noexcept {
  return answer(programSigaltstack(next, previous));
}

EXPORTED void _exit(int status) {
  endProcess(status);
  __builtin_unreachable();
}
EXPORTED void _Exit(int status) noexcept {
  endProcess(status);
  __builtin_unreachable();
}

EXPORTED int _Fork() noexcept {
  findLibc();
  if (libc.underscoreFork == nullptr) return answer(-ENOSYS);
  const int child = libc.underscoreFork();
  if (child == 0) childStarted(true);
  return child;
}

EXPORTED int clone(int (*function)(void*), void* stack, int flags, void* argument, ...) noexcept {
  findLibc();
  // Where the caller gave fewer, what is read here is not looked at.
  va_list more;
  va_start(more, argument);
  void* const parentTid = va_arg(more, void*);
  void* const storage = va_arg(more, void*);
  void* const childTid = va_arg(more, void*);
  va_end(more);
  constexpr unsigned kMemory = 0x100, kVfork = 0x4000, kThread = 0x1'0000, kStorage = 0x8'0000;
  const auto how = static_cast<unsigned>(flags);
  const bool shares = (how & kMemory) != 0 && (how & (kVfork | kStorage)) == 0;
  if (shares) beginSharing();
  const int child = libc.clone(function, stack, flags, argument, parentTid, storage, childTid);
  if (shares) learnSharer(child > 0 ? static_cast<std::uint32_t>(child) : 0, (how & kThread) != 0);
  return child;
}

// libc's own ends the parent where we do not see it.
EXPORTED int daemon(int keepFolder, int keepDescriptors) noexcept {
  findLibc();
  const int child = libc.fork();
  if (child < 0) return -1;
  if (child > 0) endProcess(0);
  const long session = systemCall(__NR_setsid);
  if (failed(session)) return answer(session);
  if (keepFolder == 0) systemCall(__NR_chdir, asLong("/"));
  if (keepDescriptors != 0) return 0;
  const long null = systemCall(__NR_open, asLong("/dev/null"), O_RDWR);
  if (failed(null)) return answer(null);
  struct stat status{};
  const bool isNull = !failed(systemCall(__NR_fstat, null, asLong(&status))) && S_ISCHR(status.st_mode) &&
                      status.st_rdev == (1 << 8 | 3);  // character device 1:3
  if (!isNull) {
    systemCall(__NR_close, null);
    return answer(-ENODEV);
  }
  for (int descriptor = 0; descriptor <= 2; ++descriptor) systemCall(__NR_dup2, null, descriptor);
  if (null > 2) systemCall(__NR_close, null);
  return 0;
}

EXPORTED int dlclose(void* handle) noexcept {
  findLibc();
  const int result = libc.dlclose(handle);
  const int error = errno;
  bindNewModules();
  setErrno(error);
  return result;
}

// Called from hooks.S.
extern "C" [[gnu::used]] void traceback_before_linker() {
  const int error = errno;
  findLibc();
  bindNewModules();
  if (process.recording && !signalsWatched()) watchSignals();
  setErrno(error);
}

// Programs ask for a filter of no address to learn whether there are any.
extern "C" [[gnu::used]] void traceback_before_prctl(int option, long mode, const void* filter) {
  constexpr int kSetSeccomp = 22, kStrict = 1, kFilter = 2;
  findLibc();
  if (option == kSetSeccomp && (mode == kStrict || (mode == kFilter && filter != nullptr))) enterSandbox();
}

// Threads that begin behind it may find no folder for their rings any more. Once libc is found nothing here
// touches errno: a child that shares the memory (Chromium's, which confines its parent) may have zeroes for
// thread-local storage.
extern "C" [[gnu::used]] void traceback_before_confinement() {
  findLibc();
  reserveRings(false);
}

extern "C" [[gnu::used]] void traceback_before_syscall(long number, long operation, long,
                                                       const void* filter) {
  constexpr int kStrict = 0, kFilter = 1;
  findLibc();
  if (number != __NR_seccomp)
    traceback_before_confinement();
  else if (operation == kStrict || (operation == kFilter && filter != nullptr))
    enterSandbox();
}

extern "C" [[gnu::used]] void traceback_after_fork() {
  if (inForkedChild()) childStarted(true);
}

extern "C" [[gnu::used]] void traceback_before_abort() {
  findLibc();
  expectAbort(reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)));
}

extern "C" [[gnu::used]] void traceback_before_setjmp(__jmp_buf_tag* target) {
  findLibc();
  noteHeldInJump(target);
}

extern "C" [[gnu::used]] void traceback_before_jump(const __jmp_buf_tag* target) {
  findLibc();
  expectJump();
  holdAsJumpDid(target);
}
