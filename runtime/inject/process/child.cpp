#include "runtime/inject/process/child.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "runtime/inject/kernel/system.h"
#include "runtime/inject/signals/actions.h"

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

using Entry = void (*)(void*);

// clone, raw: a new process in this one's memory goes on in `entry`, which does not return. The stacks are
// static, for a fault may be met on a small alternate stack.
template <std::size_t N>
long startProcess(long flags, std::uint8_t (&stack)[N], Entry entryFunction, void* argumentValue) {
  const auto top = reinterpret_cast<std::uint64_t>(stack + N);
  register void* argument __asm__("r12") = argumentValue;
  register Entry entry __asm__("r13") = entryFunction;
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
      : "a"(__NR_clone), "D"(flags), "S"(top), "d"(0L), "r"(argument), "r"(entry)
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

// A process that executes a program tells its parent when it ends, whatever it was made to (execve(2)), and
// any wait meets it. So the program has another parent, which executes nothing, and is seen by nobody who
// does not ask for such children.
struct Between {
  const ChildProgram* program;
  bool beside;
  long pid = -1;  // of the program
  int status = -1;
};

[[gnu::noinline]] void beBetween(Between& between) {
  alignas(16) static constinit std::uint8_t stack[16384];
  // It has a copy of the handlers. Whoever ignores his children's ends is not told of them.
  const Action byDefault{};
  systemCall(__NR_rt_sigaction, SIGCHLD, asLong(&byDefault), 0, 8);
  between.pid = startProcess(
      CLONE_VM | CLONE_VFORK, stack,
      [](void* program) { becomeProgram(*static_cast<const ChildProgram*>(program)); },
      const_cast<ChildProgram*>(between.program));
  if (!failed(between.pid) && !between.beside)
    between.status = waitFor(between.pid, between.program->mostMilliseconds);
  systemCall(__NR_exit, 0);
}

Between runBetween(const ChildProgram& child, bool beside) {
  alignas(16) static constinit std::uint8_t stack[16384];
  Between between{&child, beside};
  const long pid =
      startProcess(CLONE_VM, stack, [](void* data) { beBetween(*static_cast<Between*>(data)); }, &between);
  if (!failed(pid)) waitFor(pid, 0);
  return between;
}

}  // namespace

int runChild(const ChildProgram& child) { return runBetween(child, false).status; }

long startBeside(const ChildProgram& child) { return runBetween(child, true).pid; }

}  // namespace traceback::inject
