// A program that blocks the signals of faults: what it sees of its masks and of signals must be the same with
// the runtime as without.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "kinds.h"
#include "module.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static volatile uint64_t counter;
static const int kShown[] = {SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGUSR1, SIGSEGV, SIGUSR2};

static void showSet(const char* what, const sigset_t* set) {
  printf("%s:", what);
  for (size_t i = 0; i < sizeof kShown / sizeof *kShown; ++i)
    if (sigismember(set, kShown[i]) == 1) printf(" %d", kShown[i]);
  printf("\n");
}
static void show(const char* what) {
  sigset_t now;
  sigprocmask(SIG_BLOCK, NULL, &now);
  showSet(what, &now);
}
static sigset_t setOf(int first, int second) {
  sigset_t set;
  sigemptyset(&set);
  if (first != 0) sigaddset(&set, first);
  if (second != 0) sigaddset(&set, second);
  return set;
}
static void blockAll(void) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
}

static void masks(void) {
  sigset_t before, set = setOf(SIGSEGV, SIGUSR1);
  printf("%d\n", sigprocmask(SIG_BLOCK, &set, &before));
  showSet("before", &before);
  show("blocked");
  set = setOf(SIGBUS, SIGFPE);
  printf("%d\n", pthread_sigmask(SIG_SETMASK, &set, &before));
  showSet("before", &before);
  show("set");
  set = setOf(SIGBUS, SIGUSR2);
  sigprocmask(SIG_UNBLOCK, &set, &before);
  showSet("before", &before);
  show("unblocked");
  printf("%d", sigprocmask(99, &set, &before));
  printf(" %d %d\n", errno, pthread_sigmask(99, &set, NULL));
  show("after errors");
  sighold(SIGSEGV);
  show("sighold");
  sigrelse(SIGFPE);
  show("sigrelse");
  printf("sighold %d", sighold(0));
  printf(" %d\n", errno);
  printf("sigblock %x\n", (unsigned)sigblock(1 << (SIGILL - 1)) & 0xfff);
  printf("sigsetmask %x\n", (unsigned)sigsetmask(1 << (SIGBUS - 1)) & 0xfff);
  printf("sigset %d\n", sigset(SIGSEGV, (sighandler_t)2) == SIG_DFL);
  printf("sigset %d\n", sigset(SIGSEGV, (sighandler_t)2) == (sighandler_t)2);
  show("sigset held");
  printf("sigset %d\n", sigset(SIGSEGV, SIG_DFL) == (sighandler_t)2);
  show("sigset released");
  set = setOf(SIGABRT, SIGSEGV);
  sigprocmask(SIG_BLOCK, &set, &before);
  show("abort blocked");
  sigprocmask(SIG_SETMASK, &before, NULL);
}

static volatile sig_atomic_t handled_count;
static void noteSignal(int signal, siginfo_t* info, void* context) {
  ++handled_count;
  printf("handler %d code %d\n", signal, info->si_code);
  showSet("context", &((ucontext_t*)context)->uc_sigmask);
  show("within");
  traced_handler(signal);
}
static void handle(int signal, int blocked, int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = noteSignal;
  action.sa_flags = SA_SIGINFO | flags;
  if (blocked != 0) sigaddset(&action.sa_mask, blocked);
  sigaction(signal, &action, NULL);
}

// Signals that are sent while they are blocked wait until they are let in.
static void sentSignals(void) {
  handle(SIGSEGV, SIGFPE, 0);
  handle(SIGBUS, 0, SA_NODEFER);
  handle(SIGUSR1, SIGSEGV, 0);
  handle(SIGABRT, SIGSEGV, 0);
  sigset_t set = setOf(SIGSEGV, SIGBUS), pending, none = setOf(0, 0);
  sigaddset(&set, SIGABRT);
  sigprocmask(SIG_BLOCK, &set, NULL);
  count(&counter, 3);
  raise(SIGSEGV);
  raise(SIGABRT);
  kill(getpid(), SIGBUS);
  count(&counter, 3);
  printf("handled %d\n", (int)handled_count);
  sigpending(&pending);
  showSet("pending", &pending);
  show("blocked");
  sigprocmask(SIG_SETMASK, &set, NULL);
  printf("handled %d\n", (int)handled_count);
  raise(SIGUSR1);
  printf("handled %d\n", (int)handled_count);
  sigprocmask(SIG_SETMASK, &none, NULL);
  printf("handled %d\n", (int)handled_count);
  show("let in");
  raise(SIGSEGV);
  printf("handled %d\n", (int)handled_count);
}

// A handler may change what is blocked behind it.
static void changeContext(int signal, siginfo_t* info, void* data) {
  ucontext_t* context = data;
  (void)info;
  showSet("context", &context->uc_sigmask);
  show("within");
  if (signal == SIGUSR1) {
    sigdelset(&context->uc_sigmask, SIGSEGV);
    sigaddset(&context->uc_sigmask, SIGILL);
  } else {
    sigset_t set = setOf(SIGFPE, 0);
    sigprocmask(SIG_BLOCK, &set, NULL);  // until it returns
    raise(SIGSEGV);
  }
}
static void contexts(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = changeContext;
  action.sa_flags = SA_SIGINFO;
  sigaddset(&action.sa_mask, SIGSEGV);
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGUSR2, &action, NULL);
  handle(SIGSEGV, 0, 0);
  sigset_t set = setOf(SIGSEGV, SIGBUS);
  sigprocmask(SIG_BLOCK, &set, NULL);
  raise(SIGUSR1);
  show("after one");
  raise(SIGUSR2);
  show("after two");
  printf("handled %d\n", (int)handled_count);
}

static sigjmp_buf place;
static void jumpOut(int signal) {
  traced_handler(signal);
  siglongjmp(place, signal);
}
static void jumps(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = jumpOut;
  sigfillset(&action.sa_mask);
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGUSR1, &action, NULL);
  // Twice by a fault, which would end the process if its signal were taken to be blocked.
  for (volatile int i = 0; i < 2; ++i) {
    if (sigsetjmp(place, 1) == 0) store((int*)16);
    show("by a fault");
  }
  sigset_t set = setOf(SIGBUS, SIGFPE), others = setOf(SIGILL, SIGSEGV), none = setOf(0, 0);
  sigprocmask(SIG_SETMASK, &set, NULL);
  if (sigsetjmp(place, 1) == 0) {
    sigprocmask(SIG_SETMASK, &others, NULL);
    siglongjmp(place, 1);
  }
  show("mask kept");
  if (sigsetjmp(place, 0) == 0) {
    sigprocmask(SIG_SETMASK, &others, NULL);
    siglongjmp(place, 1);
  }
  show("mask not kept");
  sigprocmask(SIG_SETMASK, &none, NULL);
  if (sigsetjmp(place, 1) == 0) {
    blockAll();
    siglongjmp(place, 1);
  }
  show("none kept");
  if (sigsetjmp(place, 1) == 0) store((int*)16);
  show("by a fault");
  if (sigsetjmp(place, 1) == 0) raise(SIGUSR1);
  show("by a signal");
}

// A thread, a program and a child begin with the mask of who makes them.
static void* showMask(void* data) {
  count(&counter, 3);
  show(data);
  return NULL;
}
static void inThread(const char* name, const pthread_attr_t* attributes) {
  pthread_t thread;
  pthread_create(&thread, attributes, showMask, (void*)name);
  pthread_join(thread, NULL);
}
static void inheritance(void) {
  sigset_t set = setOf(SIGSEGV, SIGFPE);
  sigprocmask(SIG_BLOCK, &set, NULL);
  inThread("thread", NULL);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  set = setOf(SIGBUS, SIGUSR1);
  pthread_attr_setsigmask_np(&attributes, &set);
  inThread("thread of its own mask", &attributes);
  show("maker");
  char* arguments[] = {"grep", "SigBlk", "/proc/self/status", NULL};
  char* environment[] = {NULL};
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    show("child");
    set = setOf(SIGILL, 0);
    sigprocmask(SIG_BLOCK, &set, NULL);
    fflush(stdout);
    execve("/nonexistent", arguments, environment);
    show("after a failed exec");
    fflush(stdout);
    execv("/bin/grep", arguments);
  }
  waitpid(child, NULL, 0);
  posix_spawn(&child, "/bin/grep", NULL, NULL, arguments, environment);
  waitpid(child, NULL, 0);
  if (system("grep SigBlk /proc/self/status") != 0) printf("system failed\n");
  child = vfork();
  if (child == 0) {
    execv("/bin/grep", arguments);
    _exit(9);
  }
  waitpid(child, NULL, 0);
  child = vfork();
  if (child == 0) {
    set = setOf(SIGFPE, 0);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    set = setOf(SIGBUS, 0);
    sigprocmask(SIG_BLOCK, &set, NULL);
    execv("/bin/grep", arguments);
    _exit(9);
  }
  waitpid(child, NULL, 0);
  show("parent");
}

// Whoever waits for such a signal gets it.
static void* waitForSignals(void* data) {
  (void)data;
  sigset_t all;
  int number = 0;
  sigfillset(&all);
  count(&counter, 3);
  sigwait(&all, &number);
  printf("waited for %d\n", number);
  return NULL;
}
static void waits(void) {
  blockAll();
  count(&counter, 3);
  pthread_t thread;
  pthread_create(&thread, NULL, waitForSignals, NULL);
  usleep(50000);
  kill(getpid(), SIGSEGV);
  pthread_join(thread, NULL);
  sigset_t set = setOf(SIGFPE, SIGBUS);
  raise(SIGFPE);
  siginfo_t info;
  const struct timespec none = {0, 0};
  printf("taken %d", sigtimedwait(&set, &info, &none));
  printf(" again %d\n", sigtimedwait(&set, &info, &none));
  const int file = signalfd(-1, &set, 0);
  raise(SIGBUS);
  struct signalfd_siginfo read_info;
  memset(&read_info, 0, sizeof read_info);
  printf("read %d", (int)read(file, &read_info, sizeof read_info));
  printf(" %u\n", read_info.ssi_signo);
  show("after");
}

// Faults whose signal is blocked end the process, whatever handles it.
static void reportFault(int signal) {
  traced_handler(signal);
  if (write(1, "handled\n", 8) < 0) _exit(3);
  _exit(7);
}
static const char* how;
static void* breakDown(void* data) {
  count(&counter, 3);
  if (!strcmp(how, "illegal")) __builtin_trap();
  if (!strcmp(how, "divide")) {
    volatile int zero = 0;
    printf("%d\n", (int)counter / zero);
  }
  if (!strcmp(how, "abort") || !strcmp(how, "ignored abort")) abort();
  if (!strcmp(how, "damaged heap")) {
    void* volatile memory = malloc(100);
    free(memory);
    free(memory);
  }
  store(data);
  return NULL;
}
static void breakInHandler(int signal) {
  (void)signal;
  breakDown((void*)16);
}
static void faultBlocked(int handles) {
  sigset_t set = setOf(SIGSEGV, SIGFPE);
  sigaddset(&set, SIGILL);
  sigaddset(&set, SIGABRT);
  if (!strcmp(how, "ignored abort")) {
    sigemptyset(&set);
    signal(SIGABRT, SIG_IGN);
  } else if (handles) {
    signal(SIGABRT, reportFault);
    signal(SIGSEGV, reportFault);
    signal(SIGFPE, reportFault);
    signal(SIGILL, reportFault);
  }
  if (!strcmp(how, "abort in its own handler")) {
    how = "abort";
    signal(SIGABRT, breakInHandler);
    abort();
  } else if (!strcmp(how, "in a handler") || !strcmp(how, "in its own handler")) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = breakInHandler;
    sigfillset(&action.sa_mask);
    sigaction(!strcmp(how, "in a handler") ? SIGUSR1 : SIGSEGV, &action, NULL);
    if (!strcmp(how, "in a handler")) raise(SIGUSR1);
    store((int*)16);
  } else if (!strcmp(how, "in a thread")) {
    pthread_t thread;
    blockAll();
    pthread_create(&thread, NULL, breakDown, (void*)16);
    pthread_join(thread, NULL);
  } else if (!strcmp(how, "let in again")) {
    sigprocmask(SIG_BLOCK, &set, NULL);
    count(&counter, 3);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    breakDown((void*)16);
  } else {
    sigprocmask(SIG_BLOCK, &set, NULL);
    breakDown((void*)16);
  }
}
static void fault(void) { faultBlocked(0); }
static void handledFault(void) { faultBlocked(1); }

int main(int argc, char** argv) {
  static const struct kind kinds[] = {
      {"masks", masks}, {"sent signals", sentSignals},  {"contexts", contexts},
      {"jumps", jumps}, {"inheritance", inheritance},   {"waits", waits},
      {"fault", fault}, {"handled fault", handledFault}};
  count(&counter, 3);
  how = argc > 2 ? argv[2] : "";
  if (!RUN_KIND(kinds, argv[1])) return 99;
  count(&counter, 3);
  return 0;
}
