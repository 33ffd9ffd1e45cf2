// A program that gives up what the runtime might want of its surroundings, and goes on: the first argument
// says what, the second how it ends.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "module.h"

enum { kNotPermitted = 77, kStack = 1 << 16 };

static volatile uint64_t counter;

static void need(int done) {
  if (done) return;
  perror("confined");
  exit(kNotPermitted);
}

static void* inThread(void* unused) {
  volatile uint64_t own = 0;
  count(&own, 20);
  __atomic_fetch_add(&counter, own, __ATOMIC_RELAXED);
  return unused;
}

static pthread_barrier_t late;
static void* isThereAlready(void* unused) {
  inThread(NULL);
  pthread_barrier_wait(&late);
  pthread_barrier_wait(&late);
  for (int i = 0; i < 1000; ++i) inThread(NULL);
  return unused;
}

static void thread(void) {
  pthread_t other;
  if (pthread_create(&other, NULL, inThread, NULL)) exit(9);
  pthread_join(other, NULL);
}

// Some in turn, and then some at once.
enum { kInTurn = 20, kMostAtOnce = 64 };
static pthread_barrier_t together;
static void* amongOthers(void* unused) {
  inThread(NULL);
  pthread_barrier_wait(&together);
  return unused;
}
static void threads(int atOnce) {
  for (int i = 0; i < kInTurn; ++i) thread();
  pthread_t all[kMostAtOnce];
  pthread_barrier_init(&together, NULL, (unsigned)atOnce);
  for (int i = 0; i < atOnce; ++i)
    if (pthread_create(&all[i], NULL, amongOthers, NULL)) exit(9);
  for (int i = 0; i < atOnce; ++i) pthread_join(all[i], NULL);
}

static void filterBy(struct sock_filter* filter, unsigned short size) {
  const struct sock_fprog program = {size, filter};
  need(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

// These calls end the process.
static void endAt(const int* calls, int count) {
  enum { kMost = 16 };
  if (count > kMost) exit(9);
  struct sock_filter filter[2 * kMost + 2] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
  for (int i = 0; i < count; ++i) {
    filter[1 + 2 * i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
    filter[2 + 2 * i] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  }
  filter[2 * count + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  filterBy(filter, (unsigned short)(2 * count + 2));
}

// Whatever threads of libc need not.
static void allowLittle(void) {
  static const int ended[] = {SYS_openat,      SYS_open,   SYS_gettid, SYS_getpid,     SYS_prctl,
                              SYS_sigaltstack, SYS_tgkill, SYS_rename, SYS_sched_yield};
  endAt(ended, sizeof ended / sizeof *ended);
}

// Sets handlers where nothing else may be done about signals, not even wait for another thread; in a handler,
// too.
static volatile int timesHandled;
static void handle(int number) {
  ++timesHandled;
  count(&counter, 1);
  if (timesHandled == 1) signal(number, handle);
}
static void setHandlersBehindFilter(void) {
  static const int ended[] = {SYS_rt_sigprocmask, SYS_futex, SYS_gettid, SYS_getpid, SYS_prctl};
  const pid_t self = getpid();
  endAt(ended, sizeof ended / sizeof *ended);
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESETHAND}, before, then;
  if (sigaction(SIGUSR1, &action, &before) || before.sa_handler != SIG_DFL) exit(9);
  kill(self, SIGUSR1);
  kill(self, SIGUSR1);
  if (sigaction(SIGUSR1, NULL, &then) || then.sa_handler != handle || timesHandled != 2) exit(8);
  if (signal(SIGUSR1, SIG_IGN) != handle || kill(self, SIGUSR1) || timesHandled != 2) exit(7);
  if (signal(SIGSEGV, handle) != SIG_DFL || signal(SIGSEGV, SIG_DFL) != handle) exit(6);
}

static void allowAll(void) {
  struct sock_filter filter = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  filterBy(&filter, 1);
}

// With file systems of its own, into which nobody can write at `path`.
static void mountOver(const char* path, unsigned long flags, const char* options) {
  need(!unshare(CLONE_NEWNS));
  need(!mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL));
  need(!mount("none", path, "tmpfs", flags, options));
}
static void readOnly(const char* path) { mountOver(path, MS_RDONLY, NULL); }

static void fill(const char* folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/fills", folder);
  const int file = open(path, O_WRONLY | O_CREAT, 0600);
  static char block[4096];
  while (write(file, block, sizeof block) > 0) continue;
  close(file);
}
// The same with no room left there.
static void full(const char* folder, const char* name) {
  char path[4096];
  snprintf(path, sizeof path, "%s%s", folder, name);
  if (mkdir(path, 0700) && errno != EEXIST) exit(9);
  mountOver(path, 0, "size=64k,mode=0700");
  fill(path);
}

// Once more, from the program's very first instruction on, with what the runtime hides of the environment it
// was started with. (Of LD_PRELOAD that leaves nothing.)
static void executeSelf(char** arguments) {
  enum { kMost = 1024 };
  static char text[1 << 16], preload[4096];
  static char* variables[kMost + 2];
  const int file = open("/proc/self/environ", O_RDONLY);
  ssize_t size = 0, got;
  while ((got = read(file, text + size, sizeof text - 1 - (size_t)size)) > 0) size += got;
  close(file);
  int all = 0;
  for (char* at = text; at < text + size && all < kMost; at += strlen(at) + 1) variables[all++] = at;
  if (getenv("PRELOADED")) {
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", getenv("PRELOADED"));
    for (int i = 0; i < all; ++i)
      if (!strncmp(variables[i], "LD_PRELOAD=", 11)) variables[i] = preload;
  }
  execve("/proc/self/exe", arguments, variables);
  exit(9);
}

// A thread that libc knows nothing of, with its maker's thread-local storage; it ends without libc, too.
static volatile int cloned, makerIsDone;
static int inClone(void* unused) {
  volatile uint64_t own = 0;
  count(&own, 30000);
  __atomic_fetch_add(&counter, own, __ATOMIC_RELAXED);
  while (!__atomic_load_n(&makerIsDone, __ATOMIC_ACQUIRE)) syscall(SYS_sched_yield);
  __atomic_store_n(&cloned, 1, __ATOMIC_RELEASE);
  syscall(SYS_exit, 0);
  return unused != NULL;
}
enum { kCloneFlags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM };

// The same without libc's function.
static long cloneAlone(char* stackEnd) {
  long result;
  __asm__ volatile(
      "movl $56, %%eax\n"
      "syscall\n"
      "testl %%eax, %%eax\n"
      "jnz 1f\n"
      "xorl %%ebp, %%ebp\n"
      "xorl %%edi, %%edi\n"
      "call *%[function]\n"
      "1:"
      : "=a"(result)
      : "D"((long)kCloneFlags), "S"(stackEnd), "d"(0L), [function] "b"(inClone)
      : "rcx", "r11", "r8", "r10", "memory");
  return result;
}

// Sleeps leave records of their own, in the ring that the other one has by mistake: one that ends a
// sub-buffer would keep it from coming to that end.
static void awaitEnd(long tid) {
  while (!__atomic_load_n(&cloned, __ATOMIC_ACQUIRE) || !syscall(SYS_tgkill, getpid(), tid, 0)) usleep(10000);
  usleep(20000);
}

// A process in this one's memory, with nothing but zeroes where libc's thread-local storage would be.
static int hasNothing(void* unused) {
  (void)unused;
  _exit(chroot("/") || chdir("/"));
}
static void childWithoutStorage(char* stackEnd) {
  static char storage[1 << 15];
  const int flags = CLONE_VM | CLONE_VFORK | CLONE_SETTLS | SIGCHLD;
  const pid_t child = clone(hasNothing, stackEnd, flags, NULL, NULL, storage + sizeof storage / 2, NULL);
  int status = 0;
  waitpid(child, &status, 0);
  printf("ended %x\n", (unsigned)status);
}

static ucontext_t first, second;
static void coroutine(void) {
  for (int i = 0; i < 100; ++i) {
    count(&counter, 10);
    swapcontext(&second, &first);
  }
}

// The child goes on; what started it says how that ends.
static void goOnIn(pid_t child) {
  need(child >= 0);
  if (child == 0) return;
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotPermitted) exit(kNotPermitted);
  printf("ended %x\n", (unsigned)status);
  exit(0);
}

// In a PID name space of its own.
static void ownNumbers(int withProc) {
  need(!unshare(CLONE_NEWPID | CLONE_NEWNS));
  goOnIn(fork());
  need(!mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
  if (withProc) need(!mount("proc", "/proc", "proc", 0, NULL));
  printf("number %d\n", (int)getpid());
  fflush(stdout);
}

static void storeTo(void* address) { store(address); }

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* what = argv[1];
  if (!strcmp(what, "no-rings") || !strcmp(what, "full-rings") || !strcmp(what, "filling-rings")) {
    argv[1] = "nothing else";
    if (!strcmp(what, "no-rings")) {
      readOnly("/dev/shm");
    } else if (!strcmp(what, "full-rings")) {
      full(argv[3], "");
    } else {
      argv[1] = "filling";
      mountOver(argv[3], 0, "size=8m,mode=0700");
    }
    executeSelf(argv);
  }
  if (!strcmp(what,
              "late")) {  // the runtime, as a library of the program's own, when threads are there already
    enum { kThreads = 4 };
    pthread_t others[kThreads];
    pthread_barrier_init(&late, NULL, kThreads + 1);
    for (int i = 0; i < kThreads; ++i)
      if (pthread_create(&others[i], NULL, isThereAlready, NULL)) return 9;
    pthread_barrier_wait(&late);  // all have run traced code
    void* runtime = dlopen(argv[3], RTLD_NOW | RTLD_GLOBAL);
    if (!runtime && !strstr(dlerror(), "static TLS")) return 8;
    pthread_barrier_wait(&late);  // and now run it again, side by side with this one and a new one
    thread();
    for (int i = 0; i < kThreads; ++i) pthread_join(others[i], NULL);
  }
  if (!strcmp(what, "numbers-and-proc")) {
    ownNumbers(1);
    argv[1] = "pausing";
    executeSelf(argv);
  }
  count(&counter, 10);
  if (!strcmp(what, "numbers")) ownNumbers(0);
  // As nobody that its user name space knows.
  if (!strcmp(what, "users")) goOnIn((pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
  if (!strcmp(what, "pausing")) {
    puts("ready");
    fflush(stdout);
    getchar();
  }
  const int atOnce = argc > 4 ? atoi(argv[4]) : 1;
  if (!strcmp(what, "chroot")) {
    need(!mkdir("jail", 0755) && !chroot("jail") && !chdir("/"));
    threads(atOnce);
  }
  const int after = !strcmp(what, "user-after");  // somebody said so
  if (after) getchar();
  if (after || !strcmp(what, "user")) {
    need(!setgroups(0, NULL) && !setgid(65534) && !setuid(65534));
    threads(atOnce);
  }
  if (!strcmp(what, "user-by-number")) {  // of this thread alone
    need(!syscall(SYS_setresuid, 65534, 65534, 65534));
    thread();
  }
  if (!strcmp(what, "read-only")) {
    readOnly(argv[3]);
    threads(atOnce);
  }
  if (!strcmp(what, "filling")) {
    fill(argv[3]);
    count(&counter, 2000000);
    thread();
  }
  if (!strcmp(what, "filter")) {
    allowLittle();
    threads(atOnce);
  }
  if (!strcmp(what, "filter-signals")) setHandlersBehindFilter();
  // As sandboxes start what they confine; argv[3] is a folder that it does not see.
  if (!strcmp(what, "filtered-child")) {
    if (argv[3][0] != 0) readOnly(argv[3]);
    allowAll();
    execlp("grep", "grep", "-cm1", "/libtraceback", "/proc/self/maps", NULL);
    return 9;
  }
  if (!strcmp(what, "descriptors")) {  // as daemons close all that they do not know
    for (int i = 3; i < 1024; ++i) close(i);
    threads(atOnce);
  }
  if (!strcmp(what, "full-snaps")) {
    full(argv[3], "/../snaps");
    thread();
  }
  if (!strcmp(what, "clone") || !strcmp(what, "clone-alone")) {
    char* stack = mmap(NULL, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const int alone = !strcmp(what, "clone-alone");
    const long tid = alone ? cloneAlone(stack + kStack) : clone(inClone, stack + kStack, kCloneFlags, NULL);
    if (tid < 0) return 9;
    volatile uint64_t own = 0;
    if (!alone) count(&own, 30000);
    __atomic_fetch_add(&counter, own, __ATOMIC_RELAXED);
    __atomic_store_n(&makerIsDone, 1, __ATOMIC_RELEASE);
    awaitEnd(tid);
  }
  if (!strcmp(what, "storage")) {
    need(geteuid() == 0);
    char* stack = mmap(NULL, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    childWithoutStorage(stack + kStack);
  }
  if (!strcmp(what, "context")) {
    getcontext(&second);
    second.uc_stack.ss_sp = mmap(NULL, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    second.uc_stack.ss_size = kStack;
    makecontext(&second, coroutine, 0);
    for (int i = 0; i < 100; ++i) {
      swapcontext(&first, &second);
      count(&counter, 1);
    }
  }
  if (!strcmp(what, "daemon")) {  // by hand, as daemons did before there was a function for it
    if (fork()) _exit(0);
    setsid();
    if (fork()) _exit(0);
    if (chdir("/") || !freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) return 9;
    umask(0);
    thread();
  }
  count(&counter, 10);
  printf("%lu\n", (unsigned long)counter);
  fflush(stdout);
  if (!strcmp(argv[2], "fault")) call(storeTo, NULL);
  return 4;
}
