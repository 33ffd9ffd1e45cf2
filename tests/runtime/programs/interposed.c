// Calls of functions that the runtime stands in front of: the output must be the same with it as without.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kinds.h"
#include "module.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static volatile uint64_t counter;

static void libraryInFront(void) {
  sleep(0);
  setuid(getuid());
  printf("open %d\n", open("/dev/null", O_RDONLY));
}

void __cxa_throw(void* object, void* type, void (*destructor)(void*));
static void throwsByAnotherLibrary(void) {
  count(&counter, 3);
  fflush(stdout);
  int object = 7;
  __cxa_throw(&object, NULL, NULL);
}

static void failedExecs(void) {
  char* arguments[] = {"x", NULL};
  char* environment[] = {NULL};
  printf("execve %ld", syscall(SYS_execve, "/nonexistent", arguments, environment));
  printf(" %d\n", errno);
  printf("execveat %ld", syscall(SYS_execveat, AT_FDCWD, "/nonexistent", arguments, environment, 0));
  printf(" %d\n", errno);
}

// What a vfork child does to its signals is its own.
static void handler(int signal) {
  printf("handler %d\n", signal);
  traced_handler(signal);
}
static void once(int signal) { (void)signal; }
static const char* nameOf(sighandler_t action) {
  return action == SIG_DFL   ? "default"
         : action == SIG_IGN ? "ignore"
         : action == handler ? "handler"
                             : "other";
}
static void show(const char* who, int signal) {
  struct sigaction action;
  sigaction(signal, NULL, &action);
  printf("%s %d %s flags %x\n", who, signal, nameOf(action.sa_handler),
         (unsigned)action.sa_flags & ~0x04000000u);
}
static void vforked(void) {
  signal(SIGINT, handler);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGUSR1, handler);
  struct sigaction single;
  memset(&single, 0, sizeof single);
  single.sa_handler = handler;
  single.sa_flags = (int)SA_RESETHAND;
  sigaction(SIGUSR2, &single, NULL);
  fflush(stdout);
  const pid_t child = vfork();
  if (child == 0) {
    show("child", SIGINT);
    show("child", SIGPIPE);
    show("child", SIGSEGV);
    printf("child was %s\n", nameOf(signal(SIGINT, SIG_DFL)));
    printf("child was %s\n", nameOf(signal(SIGPIPE, SIG_DFL)));
    signal(SIGUSR1, once);
    printf("child was %s\n", nameOf(signal(SIGUSR1, SIG_IGN)));
    raise(SIGUSR2);
    show("child", SIGINT);
    show("child", SIGPIPE);
    show("child", SIGUSR1);
    show("child", SIGUSR2);
    fflush(stdout);
    execl("/bin/grep", "grep", "-E", "Sig(Ign|Cgt)", "/proc/self/status", NULL);
    _exit(9);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("status %x\n", (unsigned)status);
  for (const int* each = (const int[]){SIGINT, SIGPIPE, SIGUSR1, SIGUSR2, SIGSEGV, 0}; *each; ++each)
    show("parent", *each);
  siginterrupt(SIGINT, 0);
  raise(SIGINT);
  raise(SIGPIPE);
  raise(SIGUSR2);
  show("parent", SIGUSR2);
}

// The masks of handlers that interrupt a call which waits with a mask of its own.
static void tell(int signal) {
  sigset_t now;
  sigprocmask(SIG_BLOCK, NULL, &now);
  printf("%d blocks", signal);
  for (int each = 1; each < 32; ++each)
    if (sigismember(&now, each)) printf(" %d", each);
  printf("\n");
  traced_handler(signal);
}
static void maskedWaits(void) {
  sigset_t blocked, during;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  sigaddset(&blocked, SIGUSR2);
  sigemptyset(&during);
  sigaddset(&during, SIGALRM);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = tell;
  sigaddset(&action.sa_mask, SIGCHLD);
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGUSR2, &action, NULL);
  sigaction(SIGALRM, &action, NULL);
  sigprocmask(SIG_BLOCK, &blocked, NULL);
  const int file = epoll_create1(0);
  struct epoll_event event;
  const struct timespec time = {5, 0};
  for (int how = 0; how < 6; ++how) {
    raise(SIGUSR1);
    if (how % 2 == 0) raise(SIGUSR2);
    errno = 0;
    int result = 0;
    switch (how) {
      case 0:
        result = sigsuspend(&during);
        break;
      case 1:
        result = ppoll(NULL, 0, &time, &during);
        break;
      case 2:
        result = pselect(0, NULL, NULL, NULL, &time, &during);
        break;
      case 3:
        result = epoll_pwait(file, &event, 1, 5000, &during);
        break;
      case 4:
        result = epoll_pwait2(file, &event, 1, &time, &during);
        break;
      default:
        result = sigsuspend(&during);
        break;
    }
    printf("call %d: %d %d\n", how, result, errno);
    sigset_t after;
    sigprocmask(SIG_BLOCK, NULL, &after);
    printf("after: %d %d %d\n", sigismember(&after, SIGUSR1), sigismember(&after, SIGUSR2),
           sigismember(&after, SIGALRM));
  }
  // Without waiting, and in no such call any more.
  sigprocmask(SIG_UNBLOCK, &blocked, NULL);
  raise(SIGUSR1);
  raise(SIGALRM);
}

// A handler that waits for what another handler does, which may only come because the wait's mask lets it.
static volatile sig_atomic_t answered;
static void answer(int signal) {
  (void)signal;
  answered = 1;
}
static void waitForAnswer(int signal) {
  (void)signal;
  for (int i = 0; i < 3000 && !answered; ++i) usleep(1000);
  printf("answered %d\n", (int)answered);
}
static void handlersThatWait(void) {
  sigset_t blocked, none;
  signal(SIGUSR1, waitForAnswer);
  signal(SIGUSR2, answer);
  sigemptyset(&none);
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  sigaddset(&blocked, SIGUSR2);
  sigprocmask(SIG_BLOCK, &blocked, NULL);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    usleep(100000);
    kill(getppid(), SIGUSR1);
    usleep(100000);
    kill(getppid(), SIGUSR2);
    _exit(0);
  }
  sigsuspend(&none);
  waitpid(child, NULL, 0);
}

// A thread faults, and another ends the process, as well as it can.
static volatile int faults;
static const char* ending;
static void* fault(void* data) {
  faults = 1;
  count(&counter, 3);
  *(volatile int*)data = 1;
  return NULL;
}
static void faultAndEnd(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, fault, NULL);
  while (!faults) {
  }
  usleep(5000);
  char* arguments[] = {"true", NULL};
  if (!strcmp(ending, "exit")) exit(0);
  if (!strcmp(ending, "_exit")) _exit(0);
  if (!strcmp(ending, "exec")) execv("/bin/true", arguments);
}

// Whether filters are to be had is asked by giving none.
static void asksForFilters(void) {
  printf("prctl %d", prctl(PR_SET_SECCOMP, 2 /* SECCOMP_MODE_FILTER */, NULL));
  printf(" %d\n", errno);
  unsigned action = 0x7fff0000u;  // SECCOMP_RET_ALLOW
  printf("available %ld\n", syscall(SYS_seccomp, 2 /* SECCOMP_GET_ACTION_AVAIL */, 0, &action));
  printf("filter %ld", syscall(SYS_seccomp, 1 /* SECCOMP_SET_MODE_FILTER */, 0, NULL));
  printf(" %d\n", errno);
  fflush(stdout);
  fault(NULL);
}

// Handlers of SIGABRT that return: to abort(), which then ends the process, or to whoever sent the signal.
static jmp_buf place;
static void comeBack(int number) {
  printf("handler %d\n", number);
  fflush(stdout);
  if (!strcmp(ending, "default")) signal(SIGABRT, SIG_DFL);
  if (!strcmp(ending, "jump")) longjmp(place, 1);
  traced_handler(number);
}
static void aborts(void) {
  signal(SIGABRT, comeBack);
  if (!strcmp(ending, "sent")) {
    raise(SIGABRT);
    kill(getpid(), SIGABRT);
    printf("goes on\n");
  } else if (!strcmp(ending, "jump")) {
    if (setjmp(place) == 0) abort();
    ending = "sent";
    sigset_t itself;
    sigemptyset(&itself);
    sigaddset(&itself, SIGABRT);
    sigprocmask(SIG_UNBLOCK, &itself, NULL);
    aborts();
  } else if (!strcmp(ending, "assert")) {
    assert(counter == 0);
  } else {
    abort();
  }
}

// What is read by a system call of its own and set again by libc's function is what it was.
static void readsByItself(void) {
  struct kernelAction {
    void* handler;
    unsigned long flags;
    void* restorer;
    unsigned long mask;
  } read;
  signal(SIGUSR1, handler);
  for (int number = SIGUSR1; number != 0; number = number == SIGUSR1 ? SIGXCPU : 0) {
    syscall(SYS_rt_sigaction, number, NULL, &read, sizeof read.mask);
    struct sigaction again;
    memset(&again, 0, sizeof again);
    again.sa_handler = (sighandler_t)read.handler;
    again.sa_flags = (int)read.flags;
    sigaction(number, &again, NULL);
    show("put back", number);
  }
  raise(SIGUSR1);
  fflush(stdout);
  raise(SIGXCPU);
}

// Behind a filter that ends the process for whatever else.
static void calmly(int signal) {
  const char digit = (char)('0' + signal % 10);
  if (write(1, &digit, 1) < 0) _exit(3);
  traced_handler(signal);
}
static void send(int signal) { syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), signal); }
static void handlersBehindAFilter(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = calmly;
  sigaddset(&action.sa_mask, SIGUSR2);
  sigaction(SIGUSR1, &action, NULL);
  action.sa_flags = (int)SA_RESETHAND;
  sigaction(SIGUSR2, &action, NULL);
  static const long kAllowed[] = {SYS_write,  SYS_exit_group, SYS_rt_sigreturn,
                                  SYS_tgkill, SYS_getpid,     SYS_gettid};
  enum { kCount = sizeof kAllowed / sizeof *kAllowed };
  struct sock_filter filter[2 * kCount + 2];
  filter[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (unsigned i = 0; i < kCount; ++i) {
    filter[2 * i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)kAllowed[i], 0, 1);
    filter[2 * i + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  filter[2 * kCount + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  const struct sock_fprog program = {2 * kCount + 2, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
    _exit(2);
  send(SIGUSR1);
  send(SIGUSR2);
  send(SIGUSR1);
  count(&counter, 3);
  send(SIGUSR2);  // by now the default, which ends the process
}

int main(int argc, char** argv) {
  static const struct kind kinds[] = {{"library in front", libraryInFront},
                                      {"failed execs", failedExecs},
                                      {"vforked", vforked},
                                      {"masked waits", maskedWaits},
                                      {"handlers that wait", handlersThatWait},
                                      {"fault and end", faultAndEnd},
                                      {"handlers behind a filter", handlersBehindAFilter},
                                      {"aborts", aborts},
                                      {"reads by itself", readsByItself},
                                      {"asks for filters", asksForFilters},
                                      {"throws by another library", throwsByAnotherLibrary}};
  count(&counter, 3);
  ending = argc > 2 ? argv[2] : "return";
  if (!RUN_KIND(kinds, argv[1])) return 99;
  count(&counter, 3);
  return 0;
}
