// What the signal interface does, written down: the output must be the same with the runtime as without.
#define _GNU_SOURCE
#define _XOPEN_SOURCE_EXTENDED
#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "kinds.h"
#include "module.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

// In libc, but no longer in its headers.
sighandler_t bsd_signal(int signal, sighandler_t handler);

static volatile uint64_t counter;
static volatile int calls;

static void handlerA(int signal) {
  (void)signal;
  ++calls;
  traced_handler(signal);
}
static void handlerB(int signal, siginfo_t* info, void* context) {
  (void)context;
  ++calls;
  printf("B %d code %d value %d own %d\n", signal, info->si_code, info->si_value.sival_int,
         info->si_pid == getpid());
}

static const char* nameOf(void* handler) {
  if (handler == (void*)SIG_DFL) return "default";
  if (handler == (void*)SIG_IGN) return "ignore";
  if (handler == (void*)SIG_ERR) return "error";
  if (handler == (void*)SIG_HOLD) return "hold";
  if (handler == (void*)handlerA) return "A";
  if (handler == (void*)handlerB) return "B";
  return "unknown";
}

static void show(const char* when, int signal) {
  struct sigaction action;
  memset(&action, 0xEE, sizeof action);
  errno = 0;
  const int result = sigaction(signal, NULL, &action);
  unsigned long mask;
  memcpy(&mask, &action.sa_mask, sizeof mask);
  printf("%s %d: %d %d %s flags %x mask %lx restorer %d\n", when, signal, result, errno,
         nameOf((void*)action.sa_handler), (unsigned)action.sa_flags, mask, action.sa_restorer != NULL);
}

static void everyAction(void) {
  for (int signal = -1; signal <= 66; ++signal) show("first", signal);
  const int flags[] = {0,
                       SA_RESTART,
                       SA_NODEFER,
                       SA_ONSTACK,
                       (int)SA_RESETHAND,
                       SA_SIGINFO,
                       SA_NOCLDSTOP,
                       SA_NOCLDWAIT,
                       SA_SIGINFO | SA_RESTART | SA_ONSTACK,
                       0x00000400,
                       0x7FFFFFFF};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; ++i)
    for (int signal = 1; signal <= 64; signal += 1) {
      struct sigaction action;
      memset(&action, 0, sizeof action);
      if (i % 2)
        action.sa_handler = handlerA;
      else
        action.sa_sigaction = handlerB;
      action.sa_flags = flags[i];
      sigfillset(&action.sa_mask);
      errno = 0;
      const int result = sigaction(signal, &action, NULL);
      if (signal < 12 || signal > 60) printf("set %d %d\n", result, errno), show("after", signal);
      action.sa_handler = i % 3 ? SIG_DFL : SIG_IGN;
      struct sigaction was;
      memset(&was, 0, sizeof was);
      sigaction(signal, &action, &was);
      if (signal < 12)
        printf("was %s %x\n", nameOf((void*)was.sa_handler), (unsigned)was.sa_flags), show("back", signal);
    }
}

static void oldFunctions(void) {
  const int signals[] = {SIGUSR1, SIGSEGV, SIGABRT, SIGKILL, 0, -3, 65, 100, SIGRTMIN};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; ++i) {
    const int s = signals[i];
    errno = 0;
    printf("signal %s %d\n", nameOf((void*)signal(s, handlerA)), errno);
    show("signal", s);
    errno = 0;
    printf("again %s %d\n", nameOf((void*)signal(s, SIG_ERR)), errno);
    printf("siginterrupt %d\n", siginterrupt(s, 1));
    show("siginterrupt", s);
    printf("signal %s\n", nameOf((void*)signal(s, SIG_IGN)));
    show("interrupting", s);
    printf("siginterrupt %d\n", siginterrupt(s, 0));
    printf("sysv %s\n", nameOf((void*)sysv_signal(s, handlerA)));
    show("sysv", s);
    printf("sigset %s\n", nameOf((void*)sigset(s, handlerA)));
    show("sigset", s);
    printf("hold %s\n", nameOf((void*)sigset(s, SIG_HOLD)));
    printf("unhold %s\n", nameOf((void*)sigset(s, SIG_DFL)));
    printf("ssignal %s\n", nameOf((void*)ssignal(s, handlerA)));
    printf("sigignore %d\n", sigignore(s));
    show("sigignore", s);
    printf("bsd %s\n", nameOf((void*)bsd_signal(s, SIG_DFL)));
    show("bsd", s);
    errno = 0;
    printf("held %d %d %d\n", sighold(s), sigrelse(s), errno);
  }
}

static void delivery(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handlerB;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  union sigval value = {.sival_int = 77};
  sigqueue(getpid(), SIGUSR1, value);
  // One shot.
  action.sa_flags = (int)(SA_SIGINFO | SA_RESETHAND);
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  show("one shot", SIGUSR1);
  action.sa_flags = (int)(SA_SIGINFO | SA_RESETHAND);
  sigaction(SIGSEGV, &action, NULL);
  raise(SIGSEGV);
  show("one shot", SIGSEGV);
  // Blocked, pending, delivered once.
  signal(SIGUSR2, handlerA);
  sigset_t set, old, pending;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  sigprocmask(SIG_BLOCK, &set, &old);
  calls = 0;
  raise(SIGUSR2), raise(SIGUSR2);
  sigpending(&pending);
  printf("pending %d calls %d\n", sigismember(&pending, SIGUSR2), calls);
  sigprocmask(SIG_SETMASK, &old, NULL);
  printf("calls %d\n", calls);
  // Interrupted and restarted calls.
  signal(SIGALRM, handlerA);
  siginterrupt(SIGALRM, 1);
  struct itimerval soon = {{0, 0}, {0, 20000}};
  int pipes[2];
  char byte;
  if (pipe(pipes)) return;
  setitimer(ITIMER_REAL, &soon, NULL);
  errno = 0;
  const ssize_t got = read(pipes[0], &byte, 1);
  printf("read %zd %d\n", got, errno);
  errno = 41;
  raise(SIGUSR2);
  printf("errno %d\n", errno);
  // sigwait and sigsuspend.
  sigprocmask(SIG_BLOCK, &set, &old);
  raise(SIGUSR2);
  int which = 0;
  printf("sigwait %d", sigwait(&set, &which));
  printf(" %d\n", which);
  raise(SIGUSR2);
  errno = 0;
  printf("sigsuspend %d", sigsuspend(&old));
  printf(" %d calls %d\n", errno, calls);
  sigprocmask(SIG_SETMASK, &old, NULL);
}

static sigjmp_buf back;
static volatile int depth;
static void nested(int signal) {
  sigset_t now;
  sigprocmask(SIG_BLOCK, NULL, &now);
  printf("nested %d depth %d blocks %d %d\n", signal, depth, sigismember(&now, SIGUSR1),
         sigismember(&now, SIGUSR2));
  traced_handler(signal);
  if (++depth < 6) raise(depth % 2 ? SIGUSR2 : SIGUSR1);
}
static void jump(int signal) {
  (void)signal;
  siglongjmp(back, ++calls);
}
static void nesting(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = nested;
  sigaction(SIGUSR2, &action, NULL);
  sigaddset(&action.sa_mask, SIGUSR2);
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  depth = 0;
  action.sa_flags = SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGUSR2, &action, NULL);
  raise(SIGUSR1);
  signal(SIGSEGV, jump);
  calls = 0;
  for (volatile int i = 0; i < 20; ++i) {
    const int value = sigsetjmp(back, 1);
    if (value == 0) store((int*)(uintptr_t)(i + 1));
    printf("jumped %d\n", value);
    count(&counter, 3);
  }
}

// The alternate stack, as the program sees it.
static char* stackSpace;
static void onStack(int signal, siginfo_t* info, void* data) {
  (void)info;
  ucontext_t* context = data;
  char here;
  stack_t now;
  sigaltstack(NULL, &now);
  printf("on stack %d: %d, flags %d, context %d %d\n", signal,
         &here >= stackSpace && &here < stackSpace + 65536, now.ss_flags, context->uc_stack.ss_flags,
         context->uc_stack.ss_sp == stackSpace);
  stack_t other = {.ss_sp = stackSpace, .ss_flags = 0, .ss_size = 65536};
  if (signal == SIGUSR1) printf("%d", sigaltstack(&other, NULL)), printf(" %d\n", errno);
}
static void stacks(void) {
  stackSpace = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack_t stack = {.ss_sp = stackSpace, .ss_flags = 0, .ss_size = 65536}, old;
  memset(&old, 0xEE, sizeof old);
  printf("none %d", sigaltstack(NULL, &old));
  printf(" %p %d %zu\n", old.ss_sp, old.ss_flags, old.ss_size);
  printf("set %d", sigaltstack(&stack, &old));
  printf(" %p %d %zu\n", old.ss_sp, old.ss_flags, old.ss_size);
  printf("get %d", sigaltstack(NULL, &old));
  printf(" %d %d %zu\n", old.ss_sp == stackSpace, old.ss_flags, old.ss_size);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = onStack;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGUSR1, &action, NULL);
  errno = 0;
  raise(SIGUSR1);
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR2, &action, NULL);
  raise(SIGUSR2);
  stack.ss_size = 100;
  errno = 0;
  printf("small %d", sigaltstack(&stack, NULL));
  printf(" %d\n", errno);
  stack.ss_flags = SS_DISABLE;
  printf("disable %d", sigaltstack(&stack, &old));
  printf(" %d %zu\n", old.ss_sp == stackSpace, old.ss_size);
  printf("none %d", sigaltstack(NULL, &old));
  printf(" %p %d %zu\n", old.ss_sp, old.ss_flags, old.ss_size);
  raise(SIGUSR2);
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGUSR2, &action, NULL);
  raise(SIGUSR2);
}

// Recovers from the overflow of its stack.
static void overflowed(int signal) {
  (void)signal;
  siglongjmp(back, 7);
}
static void overflow(void) {
  stack_t stack = {.ss_sp = malloc(65536), .ss_flags = 0, .ss_size = 65536};
  sigaltstack(&stack, NULL);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = overflowed;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGSEGV, &action, NULL);
  for (volatile int i = 0; i < 6; ++i) {
    const int value = sigsetjmp(back, 1);
    if (value == 0) recurse();
    printf("recovered %d\n", value);
    count(&counter, 3);
  }
}

extern char** environ;
static void children(void) {
  signal(SIGUSR1, SIG_IGN);
  signal(SIGSEGV, SIG_IGN);
  signal(SIGINT, handlerA);
  fflush(stdout);
  printf("%d\n", system("grep -E 'Sig(Ign|Cgt|Blk)' /proc/self/status") >> 8);
  fflush(stdout);
  pid_t child;
  char* arguments[] = {"sh", "-c", "kill -SEGV $$; kill -USR1 $$; kill -INT $$; echo not reached", NULL};
  int status = 0;
  printf("spawn %d\n", posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ));
  waitpid(child, &status, 0);
  printf("status %x\n", (unsigned)status);
  fflush(stdout);
  child = vfork();
  if (child == 0) {
    execv("/bin/sh", arguments);
    _exit(9);
  }
  waitpid(child, &status, 0);
  printf("status %x\n", (unsigned)status);
  child = vfork();
  if (child == 0) _exit(12);
  waitpid(child, &status, 0);
  printf("status %x\n", (unsigned)status);
  show("after", SIGINT);
  signal(SIGCHLD, handlerA);
  calls = 0;
  printf("%d %d\n", system("exit 3") >> 8, calls);
}

static void* threadRaises(void* data) {
  volatile uint64_t mine = 0;
  count(&mine, 10);
  for (int i = 0; i < 100; ++i) pthread_kill(pthread_self(), SIGUSR1);
  count(&mine, 10);
  return data;
}
static void* threadWaits(void* data) {
  volatile uint64_t mine = 0;
  for (;;) {
    count(&mine, 100);
    pthread_testcancel();
  }
  return data;
}
static void threads(void) {
  signal(SIGUSR1, handlerA);
  pthread_t ids[8];
  for (int i = 0; i < 8; ++i) pthread_create(&ids[i], NULL, threadRaises, NULL);
  for (int i = 0; i < 8; ++i) pthread_join(ids[i], NULL);
  printf("handled %lu\n", (unsigned long)handled > 0 ? 1ul : 0ul);
  pthread_create(&ids[0], NULL, threadWaits, NULL);
  usleep(10000);
  pthread_cancel(ids[0]);
  void* result = NULL;
  pthread_join(ids[0], &result);
  printf("cancelled %d\n", result == PTHREAD_CANCELED);
}

// Frames seen from a handler that interrupted a copy.
static void backtraceHere(int signal) {
  (void)signal;
  void* frames[32];
  const int n = backtrace(frames, 32);
  int deep = 0;
  for (int i = 0; i < n; ++i) deep += (char*)frames[i] != NULL;
  printf("frames enough %d\n", deep >= 6);
  siglongjmp(back, 1);
}
static void storeTo(void* address) { store(address); }
static void unwinding(void) {
  void* warm[2];
  backtrace(warm, 2);
  signal(SIGSEGV, backtraceHere);
  if (sigsetjmp(back, 1) == 0) call(storeTo, NULL);
  printf("done\n");
}

static void aborted(int signal) {
  printf("abort handler %d\n", signal);
  fflush(stdout);
}
static void abortHandled(void) {
  signal(SIGABRT, aborted);
  fflush(stdout);
  abort();
}

// A handler that lets the call go on which it interrupted, once that has been begun again.
static int restartPipe[2];
static void feeds(int signal) {
  traced_handler(signal);
  ++calls;
  if (write(restartPipe[1], "r", 1) != 1) _exit(9);
}
static void restart(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = feeds;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  if (pipe(restartPipe)) return;
  for (int i = 0; i < 20; ++i) {
    struct itimerval soon = {{0, 0}, {0, 3000}};
    setitimer(ITIMER_REAL, &soon, NULL);
    char byte = 0;
    errno = 0;
    const ssize_t got = read(restartPipe[0], &byte, 1);
    printf("read %zd %c %d, calls %d\n", got, byte, errno, calls);
  }
}

// The masks are the program's: of each thread, and within calls that take one.
static void* ownMask(void* unused) {
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, NULL, &mask);
  printf("inherited %d %d\n", sigismember(&mask, SIGUSR1), sigismember(&mask, SIGUSR2));
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  printf("unblock %d\n", pthread_sigmask(SIG_UNBLOCK, &mask, NULL));
  calls = 0;
  pthread_kill(pthread_self(), SIGUSR1);
  printf("calls %d\n", calls);
  return unused;
}
static void masks(void) {
  signal(SIGUSR1, handlerA);
  signal(SIGUSR2, handlerA);
  sigset_t both, none, old, pending;
  sigemptyset(&none);
  sigemptyset(&both);
  sigaddset(&both, SIGUSR1);
  sigaddset(&both, SIGUSR2);
  printf("block %d, wrong %d\n", pthread_sigmask(SIG_BLOCK, &both, &old), pthread_sigmask(99, &both, NULL));
  pthread_t thread;
  pthread_create(&thread, NULL, ownMask, NULL);
  pthread_join(thread, NULL);
  // A descriptor takes what is pending; the handler sees nothing of it.
  const int descriptor = signalfd(-1, &both, SFD_NONBLOCK | SFD_CLOEXEC);
  struct signalfd_siginfo info[4];
  calls = 0;
  errno = 0;
  printf("empty %zd", read(descriptor, info, sizeof info));
  printf(" %d\n", errno);
  raise(SIGUSR1);
  const union sigval value = {.sival_int = 4711};
  sigqueue(getpid(), SIGUSR2, value);
  struct pollfd ready = {.fd = descriptor, .events = POLLIN};
  printf("poll %d\n", poll(&ready, 1, 1000));
  const ssize_t got = read(descriptor, info, sizeof info) / (ssize_t)sizeof *info;
  for (ssize_t i = 0; i < got; ++i)
    printf("descriptor %u own %d value %d\n", info[i].ssi_signo, info[i].ssi_pid == (unsigned)getpid(),
           info[i].ssi_int);
  printf("calls %d\n", calls);
  close(descriptor);
  // Each of these lets the pending one in, and is interrupted by it.
  const int epoll = epoll_create1(0);
  struct epoll_event event;
  struct timespec second = {1, 0};
  for (int i = 0; i < 4; ++i) {
    raise(SIGUSR1);
    errno = 0;
    const int result = i == 0   ? ppoll(NULL, 0, &second, &none)
                       : i == 1 ? pselect(0, NULL, NULL, NULL, &second, &none)
                       : i == 2 ? epoll_pwait(epoll, &event, 1, 1000, &none)
                                : sigsuspend(&none);
    const int why = errno;
    sigpending(&pending);
    printf("%d: %d %d calls %d pending %d\n", i, result, why, calls, sigismember(&pending, SIGUSR1));
  }
  close(epoll);
  raise(SIGUSR1);
  siginfo_t taken;
  printf("sigwaitinfo %d", sigwaitinfo(&both, &taken));
  printf(" %d calls %d\n", taken.si_signo, calls);
  const struct timespec little = {0, 1000000};
  errno = 0;
  printf("sigtimedwait %d", sigtimedwait(&both, &taken, &little));
  printf(" %d\n", errno);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
}

// What a parent learns of a child that breaks down, with and without core files, and the files.
static void breaks(int signal) {
  if (signal == SIGSEGV) store((int*)(uintptr_t)16);
  if (signal == SIGABRT) abort();
  kill(getpid(), signal);
}
static int coreFiles(void) {
  int found = 0;
  DIR* folder = opendir(".");
  for (struct dirent* entry; folder && (entry = readdir(folder));) {
    if (strncmp(entry->d_name, "core", 4)) continue;
    char magic[4] = {0};
    const int file = open(entry->d_name, O_RDONLY);
    found += read(file, magic, 4) == 4 && !memcmp(magic, "\177ELF", 4);
    close(file);
    unlink(entry->d_name);
  }
  closedir(folder);
  return found;
}
static void cores(void) {
  const int signals[] = {SIGSEGV, SIGABRT, SIGQUIT, SIGFPE, SIGTERM};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; ++i)
    for (int large = 0; large < 2; ++large) {
      struct rlimit limit;
      getrlimit(RLIMIT_CORE, &limit);
      limit.rlim_cur = large ? limit.rlim_max : 0;
      setrlimit(RLIMIT_CORE, &limit);
      fflush(stdout);
      const pid_t child = fork();
      if (child == 0) {
        count(&counter, 5);
        printf("dumpable %d\n", prctl(PR_GET_DUMPABLE));
        fflush(stdout);
        breaks(signals[i]);
        pause();
      }
      int status = 0;
      waitpid(child, &status, 0);
      printf("signal %d core %d status %x files %d\n", signals[i], large, (unsigned)status, coreFiles());
    }
}

static void rawAction(void) {
  // A program that goes round libc sees what libc has: its own handlers work.
  signal(SIGUSR1, handlerA);
  count(&counter, 5);
  calls = 0;
  syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1);
  printf("calls %d\n", calls);
}

// What functions keep: in a handler it is what it was where that interrupted, and behind it, too.
uint64_t registersInHandler[6], registersBehind[6];
void noteRegisters(int signal);
__asm__(
    ".text\n"
    ".type noteRegisters, @function\n"
    "noteRegisters:\n"
    "  movq %rbx, registersInHandler(%rip)\n"
    "  movq %rbp, registersInHandler + 8(%rip)\n"
    "  movq %r12, registersInHandler + 16(%rip)\n"
    "  movq %r13, registersInHandler + 24(%rip)\n"
    "  movq %r14, registersInHandler + 32(%rip)\n"
    "  movq %r15, registersInHandler + 40(%rip)\n"
    "  ret\n"
    ".size noteRegisters, . - noteRegisters\n");
static void keptRegisters(void) {
  struct sigaction action = {.sa_handler = noteRegisters};
  sigaction(SIGUSR1, &action, NULL);
  const long number = SYS_tgkill, pid = getpid(), tid = syscall(SYS_gettid), signal = SIGUSR1;
  __asm__ volatile(
      "leaq -128(%%rsp), %%rsp\n"
      "pushq %%rbx\n pushq %%rbp\n pushq %%r12\n pushq %%r13\n pushq %%r14\n pushq %%r15\n"
      "movl $101, %%ebx\n movl $102, %%ebp\n movl $103, %%r12d\n"
      "movl $104, %%r13d\n movl $105, %%r14d\n movl $106, %%r15d\n"
      "syscall\n"
      "movq %%rbx, registersBehind(%%rip)\n movq %%rbp, registersBehind + 8(%%rip)\n"
      "movq %%r12, registersBehind + 16(%%rip)\n movq %%r13, registersBehind + 24(%%rip)\n"
      "movq %%r14, registersBehind + 32(%%rip)\n movq %%r15, registersBehind + 40(%%rip)\n"
      "popq %%r15\n popq %%r14\n popq %%r13\n popq %%r12\n popq %%rbp\n popq %%rbx\n"
      "leaq 128(%%rsp), %%rsp\n"
      :
      : "a"(number), "D"(pid), "S"(tid), "d"(signal)
      : "rcx", "r11", "memory");
  for (int i = 0; i < 6; ++i)
    printf("register %d: %d in the handler, %d behind it\n", i, (int)registersInHandler[i],
           (int)registersBehind[i]);
}

int main(int argc, char** argv) {
  (void)argc;
  static const struct kind kinds[] = {
      {"actions", everyAction}, {"old", oldFunctions},   {"delivery", delivery},      {"nesting", nesting},
      {"stacks", stacks},       {"overflow", overflow},  {"children", children},      {"threads", threads},
      {"unwinding", unwinding}, {"abort", abortHandled}, {"raw", rawAction},          {"restart", restart},
      {"masks", masks},         {"cores", cores},        {"registers", keptRegisters}};
  count(&counter, 3);
  if (!RUN_KIND(kinds, argv[1])) return 99;
  count(&counter, 3);
  printf("counter %lu\n", (unsigned long)counter % 2);
  return 0;
}
