#include "runtime/inject/child.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "runtime/inject/actions.h"
#include "runtime/inject/system.h"

namespace traceback::inject {

namespace {

[[gnu::noinline]] void becomeProgram(const ChildProgram& start) {
  // Its own copy of the handlers: none of ours may run in it.
  const std::uint64_t none = 0;
  const Action byDefault{};
  for (int signal = 1; signal <= 64; ++signal)
    systemCall(__NR_rt_sigaction, signal, asLong(&byDefault), 0, 8);
  // What is too large for its file fails, and is removed, instead of ending the child.
  const Action ignored{1, 0, 0, 0};
  systemCall(__NR_rt_sigaction, SIGXFSZ, asLong(&ignored), 0, 8);
  // The program's limits are for itself: as far as it may, the child goes beyond.
  constexpr int kLimited[] = {RLIMIT_AS, RLIMIT_DATA, RLIMIT_FSIZE, RLIMIT_NOFILE};
  for (const int resource : kLimited) {
    rlimit limit{};
    if (failed(systemCall(__NR_prlimit64, 0, resource, 0, asLong(&limit)))) continue;
    limit.rlim_cur = limit.rlim_max;
    systemCall(__NR_prlimit64, 0, resource, asLong(&limit), 0);
  }
  systemCall(__NR_rt_sigprocmask, 2 /* SIG_SETMASK */, asLong(&none), 0, 8);
  if (start.silent) {
    systemCall(__NR_close, 2);
    systemCall(__NR_open, asLong("/dev/null"), O_WRONLY);  // takes the lowest free descriptor
  }
  systemCall(__NR_close_range, 3, ~0u, 0);
  systemCall(__NR_execve, asLong(start.program), asLong(start.arguments), asLong(start.environment));
  systemCall(__NR_exit, 127);
}

// vfork, raw: the child runs on a stack of its own below ours until it executes the program.
long startChild(const ChildProgram& start) {
  // Static, for a fault may be met on a small alternate stack.
  alignas(16) static constinit std::uint8_t stack[16384];
  const auto top = reinterpret_cast<std::uint64_t>(stack + sizeof stack);
  register const ChildProgram* argument __asm__("r12") = &start;
  register void (*entry)(const ChildProgram&) __asm__("r13") = &becomeProgram;
  long pid;
  __asm__ volatile(
      "xorl %%r10d, %%r10d\n\t"
      "xorl %%r8d, %%r8d\n\t"
      "syscall\n\t"
      "testq %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xorl %%ebp, %%ebp\n\t"
      "movq %%r12, %%rdi\n\t"
      "call *%%r13\n\t"
      "hlt\n"
      "1:"
      : "=a"(pid)
      : "a"(__NR_clone), "D"(static_cast<long>(CLONE_VM | CLONE_VFORK)), "S"(top), "d"(0L), "r"(argument),
        "r"(entry)
      : "rcx", "r8", "r10", "r11", "memory");
  return pid;
}

int statusOf(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -1; }

int waitFor(long pid, unsigned mostMilliseconds) {
  constexpr long kInterrupted = -4;
  int status = 0;
  if (mostMilliseconds == 0) {
    long ended = kInterrupted;
    while (ended == kInterrupted) ended = systemCall(__NR_wait4, pid, asLong(&status), __WALL, 0);
    return ended == pid ? statusOf(status) : -1;
  }
  unsigned waited = 0;
  for (unsigned pause = 1; waited < mostMilliseconds; waited += pause) {
    const long ended = systemCall(__NR_wait4, pid, asLong(&status), __WALL | WNOHANG, 0);
    if (failed(ended) && ended != kInterrupted) return -1;
    if (ended == pid) return statusOf(status);
    pause = waited < 100 ? 1 : 10;
    const struct timespec time{0, static_cast<long>(pause) * 1'000'000};
    systemCall(__NR_nanosleep, asLong(&time), 0);
  }
  systemCall(__NR_kill, pid, 9);
  systemCall(__NR_wait4, pid, 0, __WALL, 0);
  return -1;
}

}  // namespace

int runChild(const ChildProgram& child) {
  const long pid = startChild(child);
  return failed(pid) ? -1 : waitFor(pid, child.mostMilliseconds);
}

}  // namespace traceback::inject
