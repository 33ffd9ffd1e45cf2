// A program with hand-made instrumented code; what it does is named by its first argument.
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "module.h"

static volatile uint64_t counter;

static long number(char** arguments, int i, long fallback) {
  return arguments[i] ? atol(arguments[i]) : fallback;
}

static void dieNow(void) { kill(getpid(), SIGKILL); }

static int runCount(char** arguments) {
  count(&counter, (uint64_t)number(arguments, 0, 1000));
  dieNow();
  return 0;
}

static int runRegisters(char** arguments) {
  uint64_t changed = 0;
  for (long i = number(arguments, 0, 1000); i > 0; --i) changed += registers();
  printf("%lu\n", (unsigned long)changed);
  return 0;
}

// Counts for ever, each thread into its own word of a shared file.
static void* countForever(void* word) {
  count(word, ~(uint64_t)0);
  return NULL;
}
static int runForever(char** arguments) {
  const int file = open(arguments[0], O_RDWR);
  uint64_t* words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (words == MAP_FAILED) return 1;
  pthread_t thread;
  for (long i = 1; i < number(arguments, 1, 1); ++i)
    pthread_create(&thread, NULL, countForever, words + 1 + i * 8);
  words[0] = 1;
  countForever(words + 1);
  return 0;
}

static void* countSome(void* n) {
  volatile uint64_t mine = 0;
  count(&mine, (uintptr_t)n);
  return NULL;
}
static int runThreads(char** arguments) {
  for (long i = 0; i < number(arguments, 0, 3); ++i) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (i % 2) pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_create(&thread, &attributes, countSome, (void*)(uintptr_t)(100 + i));
    if (i % 2)
      usleep(20000);
    else
      pthread_join(thread, NULL);
  }
  usleep(50000);
  count(&counter, 7);
  dieNow();
  return 0;
}

static int runMany(char** arguments) {
  for (long i = 0; i < number(arguments, 0, 600); ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, countSome, (void*)10)) return 1;
    pthread_join(thread, NULL);
  }
  count(&counter, 7);
  dieNow();
  return 0;
}

static void* waitHere(void* barrier) {
  countSome((void*)10);
  pthread_barrier_wait(barrier);
  pthread_barrier_wait(barrier);
  return NULL;
}
static int runCrowd(char** arguments) {
  const long n = number(arguments, 0, 300);
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, (unsigned)n + 1);
  pthread_t threads[512];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  for (long i = 0; i < n; ++i)
    if (pthread_create(&threads[i], &attributes, waitHere, &barrier)) return 1;
  pthread_barrier_wait(&barrier);
  puts("all run");
  pthread_barrier_wait(&barrier);
  for (long i = 0; i < n; ++i) pthread_join(threads[i], NULL);
  puts("all ended");
  return 0;
}

static int runExit(char** arguments) {
  count(&counter, 10);
  const char* how = arguments[0];
  if (!strcmp(how, "exit")) exit(3);
  if (!strcmp(how, "_exit")) _exit(3);
  if (!strcmp(how, "_Exit")) _Exit(3);
  if (!strcmp(how, "quick_exit")) quick_exit(3);
  if (!strcmp(how, "daemon")) {
    if (daemon(1, 0)) return 5;
    count(&counter, 10);
    return 6;  // nobody waits for it
  }
  if (!strcmp(how, "pthread_exit")) pthread_exit(NULL);
  return 3;
}

static int runFork(char** arguments) {
  count(&counter, 100);
  const int raw = !strcmp(arguments[0], "raw");
  const pid_t child = !strcmp(arguments[0], "_Fork") ? _Fork() : raw ? (pid_t)syscall(SYS_fork) : fork();
  if (child == 0) {
    count(&counter, 50);
    kill((pid_t)syscall(SYS_getpid), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("child %d status %d\n", (int)child, status);
  fflush(stdout);
  count(&counter, 20);
  dieNow();
  return 0;
}

// Forks inside a signal handler: the child goes on in the interrupted code.
static volatile pid_t handlersChild = -1;
static void forkInHandler(int signal) {
  (void)signal;
  traced_handler(0);
  if (handlersChild == -1) handlersChild = fork();
}
static int runForkInHandler(char** arguments) {
  (void)arguments;
  signal(SIGUSR1, forkInHandler);
  count(&counter, 30);
  raise(SIGUSR1);
  count(&counter, 30);
  if (handlersChild == 0) _exit(counter == 60 ? 5 : 6);
  int status = 0;
  waitpid(handlersChild, &status, 0);
  printf("%d %lu\n", WEXITSTATUS(status), (unsigned long)counter);
  return 0;
}

static void storeTo(void* address) { store(address); }
static int runFault(char** arguments) {
  const char* how = arguments[0];
  count(&counter, 10);
  if (!strcmp(how, "null")) call(storeTo, NULL);
  if (!strcmp(how, "address")) call(storeTo, (void*)0x1230);
  if (!strcmp(how, "abort")) abort();
  if (!strcmp(how, "overflow")) recurse();
  if (!strcmp(how, "sent")) kill(getpid(), SIGSEGV);
  if (!strcmp(how, "quit")) raise(SIGQUIT);
  if (!strcmp(how, "trap")) __asm__ volatile("int3");
  if (!strcmp(how, "illegal")) __asm__ volatile("ud2");
  if (!strcmp(how, "divide"))
    __asm__ volatile("xorl %%ecx, %%ecx\n\tmovl $1, %%eax\n\tcltd\n\tidivl %%ecx" ::: "eax", "ecx", "edx");
  if (!strcmp(how, "undumpable")) {
    prctl(PR_CAPBSET_DROP, CAP_SYS_PTRACE);
    prctl(PR_SET_DUMPABLE, 0);
    abort();
  }
  if (!strcmp(how, "term")) raise(SIGTERM);
  return 0;
}
static void* faultThere(void* how) {
  char* arguments[] = {how, NULL};
  runFault(arguments);
  return NULL;
}
static int runThreadFault(char** arguments) {
  count(&counter, 10);
  pthread_t thread;
  pthread_create(&thread, NULL, faultThere, arguments[0]);
  pthread_join(thread, NULL);
  return 0;
}

// A timer's traced handler interrupts traced code.
static int runTimer(char** arguments) {
  const long milliseconds = number(arguments, 0, 1000);
  signal(SIGALRM, traced_handler);
  struct itimerval interval = {{0, 200}, {0, 200}};
  setitimer(ITIMER_REAL, &interval, NULL);
  struct timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do {
    count(&counter, 1000);
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < milliseconds);
  memset(&interval, 0, sizeof interval);
  setitimer(ITIMER_REAL, &interval, NULL);
  printf("%lu %lu\n", (unsigned long)counter, (unsigned long)handled);
  fflush(stdout);
  dieNow();
  return 0;
}

static sigjmp_buf back;
static void jumpOut(int signal) {
  traced_handler(signal);
  siglongjmp(back, 1);
}
static int runJump(char** arguments) {
  signal(SIGUSR1, jumpOut);
  for (volatile long i = 0; i < number(arguments, 0, 10); ++i) {
    if (sigsetjmp(back, 1) == 0) {
      count(&counter, 5);
      raise(SIGUSR1);
    }
    count(&counter, 5);
  }
  dieNow();
  return 0;
}

static void raiseNext(int signal) {
  traced_handler(signal);
  if (signal < SIGRTMIN + 5) raise(signal + 1);
  traced_handler(signal);
}
static int runNested(char** arguments) {
  (void)arguments;
  for (int i = 0; i < 6; ++i) signal(SIGRTMIN + i, raiseNext);
  count(&counter, 5);
  raise(SIGRTMIN);
  count(&counter, 5);
  raise(SIGRTMIN + 5);
  count(&counter, 5);
  dieNow();
  return 0;
}

// A handler sees original addresses, and may change them.
static void skipStore(int signal, siginfo_t* info, void* data) {
  (void)signal;
  ucontext_t* context = data;
  greg_t* pc = &context->uc_mcontext.gregs[REG_RIP];
  printf("%s %p %d\n", (char*)*pc == store_instruction ? "original" : "other", info->si_addr, info->si_code);
  *pc += 6;  // movl $1, (%rdi): the original goes on
}
static int runHandler(char** arguments) {
  (void)arguments;
  struct sigaction action = {.sa_sigaction = skipStore, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, NULL);
  for (int i = 0; i < 3; ++i) call(storeTo, (void*)0x40);
  return 0;
}

static int runPause(char** arguments) {
  (void)arguments;
  count(&counter, 100);
  pthread_t thread;
  pthread_create(&thread, NULL, countForever, (void*)&counter);
  puts("ready");
  fflush(stdout);
  char line[8];
  const int asked = fgets(line, sizeof line, stdin) != NULL;
  printf("went on %d\n", asked);
  return 4;
}

// Executes another program, in one of the ways there are; the first try fails.
static int runExec(char** arguments) {
  const char* how = arguments[0];
  char* echo[] = {"echo", "executed", NULL};
  count(&counter, 100);
  execv("/nowhere/program", echo);
  printf("failed %d\n", errno);
  fflush(stdout);
  count(&counter, 10);
  if (!strcmp(how, "none")) dieNow();
  if (!strcmp(how, "execve")) execve("/bin/echo", echo, environ);
  if (!strcmp(how, "execv")) execv("/bin/echo", echo);
  if (!strcmp(how, "execvp")) execvp("echo", echo);
  if (!strcmp(how, "execvpe")) execvpe("echo", echo, environ);
  if (!strcmp(how, "fexecve")) fexecve(open("/bin/echo", O_RDONLY), echo, environ);
  if (!strcmp(how, "execveat")) execveat(AT_FDCWD, "/bin/echo", echo, environ, 0);
  if (!strcmp(how, "execl")) execl("/bin/echo", "echo", "executed", NULL);
  if (!strcmp(how, "execlp")) execlp("echo", "echo", "executed", NULL);
  if (!strcmp(how, "execle"))
    execle("/bin/sh", "sh", "-c", "echo $WORD", NULL, (char*[]){"WORD=executed", NULL});
  if (!strcmp(how, "vfork")) {
    const pid_t child = vfork();
    if (child == 0) {
      execl("/bin/echo", "echo", "executed", NULL);
      _exit(1);
    }
    waitpid(child, NULL, 0);
    dieNow();
  }
  return 1;
}

// A handler's view of the stack, wherever in a probe or in the runtime the signal came.
static volatile int incomplete, seen;
static void* outermost;
static void lookBack(int signal) {
  (void)signal;
  void* frames[64];
  const int n = backtrace(frames, 64);
  ++seen;
  if (n < 1 || frames[n - 1] != outermost) ++incomplete;
}
static int runBacktrace(char** arguments) {
  void* frames[64];
  outermost = frames[backtrace(frames, 64) - 1];
  signal(SIGALRM, lookBack);
  struct itimerval interval = {{0, 300}, {0, 300}};
  setitimer(ITIMER_REAL, &interval, NULL);
  for (long i = number(arguments, 0, 1000); seen < i;) count(&counter, 300);
  printf("%d\n", incomplete);
  return 0;
}

// Allows itself next to nothing.
static int runSandbox(char** arguments) {
  count(&counter, 100);
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fstat, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  static char space[4096];
  setvbuf(stdout, space, _IOFBF, sizeof space);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (!strcmp(arguments[0], "syscall") ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)
                                       : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
    return 1;
  count(&counter, 1000000);
  if (!strcmp(arguments[0], "fault")) call(storeTo, NULL);
  puts("sandboxed");
  return 4;
}

static int runEnvironment(char** arguments) {
  (void)arguments;
  count(&counter, 1);
  for (char** entry = environ; *entry; ++entry) puts(*entry);
  setenv("ADDED", "1", 1);
  setenv("LD_PRELOAD_X", "1", 1);
  unsetenv("HOME");
  printf("%s %s\n", getenv("ADDED"), getenv("HOME") ? "kept" : "gone");
  return system("echo from a shell; env | grep -c TRACEBACK_SNAP_DIR ; true");
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    int (*run)(char**);
  } kinds[] = {{"count", runCount},
               {"registers", runRegisters},
               {"forever", runForever},
               {"threads", runThreads},
               {"many", runMany},
               {"crowd", runCrowd},
               {"exit", runExit},
               {"fork", runFork},
               {"fork-in-handler", runForkInHandler},
               {"fault", runFault},
               {"thread-fault", runThreadFault},
               {"timer", runTimer},
               {"jump", runJump},
               {"nested", runNested},
               {"handler", runHandler},
               {"exec", runExec},
               {"backtrace", runBacktrace},
               {"pause", runPause},
               {"sandbox", runSandbox},
               {"environment", runEnvironment}};
  for (size_t i = 0; argc > 1 && i < sizeof kinds / sizeof *kinds; ++i)
    if (!strcmp(argv[1], kinds[i].name)) return kinds[i].run(argv + 2);
  return 99;
}
