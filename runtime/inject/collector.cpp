#include "runtime/inject/collector.h"

#include <fcntl.h>
#include <linux/prctl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "runtime/inject/process.h"

namespace traceback::inject {

namespace {

constinit struct stat standardError{};
constinit bool hasStandardError = false;

// A daemon may have made descriptor 2 something else, where a message would do damage.
bool standardErrorIsTheSame() {
  struct stat now{};
  return hasStandardError && !failed(systemCall(__NR_fstat, 2, asLong(&now))) &&
         now.st_dev == standardError.st_dev && now.st_ino == standardError.st_ino;
}

// Everything that the child needs, made before it exists: it shares our memory.
struct Start {
  const char* program;
  const char* const* arguments;
  const char* const* environment;
  bool silent;
};

[[gnu::noinline]] void becomeCollector(const Start& start) {
  // Its own copy of the handlers: none of ours may run in it.
  const std::uint64_t none = 0;
  const struct {
    std::uint64_t handler, flags, restorer, mask;
  } byDefault{};
  for (int signal = 1; signal <= 64; ++signal)
    systemCall(__NR_rt_sigaction, signal, asLong(&byDefault), 0, 8);
  systemCall(__NR_rt_sigprocmask, 2 /* SIG_SETMASK */, asLong(&none), 0, 8);
  if (start.silent) {
    systemCall(__NR_close, 2);
    systemCall(__NR_open, asLong("/dev/null"), O_WRONLY);  // takes the lowest free descriptor
  }
  systemCall(__NR_close_range, 3, ~0u, 0);
  systemCall(__NR_execve, asLong(start.program), asLong(start.arguments), asLong(start.environment));
  systemCall(__NR_exit, 127);
}

// vfork, raw: the child runs on a stack of its own below ours until it executes the collector, and its end
// sends no signal to the program.
long startChild(const Start& start) {
  // Static, for the fault may be met on a small alternate stack; there is one fault at a time.
  alignas(16) static constinit std::uint8_t stack[16384];
  const auto top = reinterpret_cast<std::uint64_t>(stack + sizeof stack);
  register const Start* argument __asm__("r12") = &start;
  register void (*entry)(const Start&) __asm__("r13") = &becomeCollector;
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

// Its exit status, or -1. A collector that hangs does not hang the program for ever.
int waitFor(long pid) {
  constexpr unsigned kMostMilliseconds = 120'000;
  unsigned waited = 0;
  for (unsigned pause = 1; waited < kMostMilliseconds; waited += pause) {
    int status = 0;
    const long ended = systemCall(__NR_wait4, pid, asLong(&status), __WALL | WNOHANG, 0);
    if (failed(ended) && ended != -4 /* EINTR */) return -1;
    if (ended == pid) return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    pause = waited < 100 ? 1 : 10;
    const struct timespec time{0, static_cast<long>(pause) * 1'000'000};
    systemCall(__NR_nanosleep, asLong(&time), 0);
  }
  systemCall(__NR_kill, pid, 9);
  systemCall(__NR_wait4, pid, 0, __WALL, 0);
  return -1;
}

}  // namespace

void rememberStandardError() {
  hasStandardError = !failed(systemCall(__NR_fstat, 2, asLong(&standardError)));
}

void runCollector() {
  const Environment& environment = process.environment;
  Text<24> pid, tid;
  pid.add(std::uint64_t{process.pid});
  tid.add(std::uint64_t{rawTid()});
  const char* arguments[] = {
      environment.collector.c_str(), "collect", "--pid", pid.c_str(), "--tid", tid.c_str(), "--folder",
      process.folder.c_str(),        nullptr};
  const char* variables[4] = {};
  unsigned used = 0;
  variables[used++] = "PATH=/usr/local/bin:/usr/bin:/bin";
  if (!environment.home.empty()) variables[used++] = environment.home.c_str();
  if (!environment.stateHome.empty()) variables[used++] = environment.stateHome.c_str();
  const bool speak = standardErrorIsTheSame();
  const Start start{environment.collector.c_str(), arguments, variables, !speak};

  // Yama lets a process be traced by its descendants if it says so.
  systemCall(__NR_prctl, PR_SET_PTRACER, process.pid);
  const long child = startChild(start);
  if (!failed(child) && waitFor(child) == 0) return;
  if (!speak) return;
  static constinit Text<1200> message;
  message.clear();
  message
      .add("traceback: the snap could not be written; to make it from what was recorded: traceback recover ")
      .add(process.folder.c_str())
      .add("\n");
  systemCall(__NR_write, 2, asLong(message.c_str()), static_cast<long>(message.size()));
}

}  // namespace traceback::inject
