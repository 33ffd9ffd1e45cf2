// Counts in shared memory, and executes for each number a path that spells it: what of the path is found
// later must spell numbers that follow one another, up to the last one in the memory.
//
//   counting FILE THREADS MILLISECONDS [alarm] [timer] [asked] [skips]
//
// FILE is a page of counts: threads 0 to 255, then the handlers of SIGALRM (setitimer) and of SIGRTMIN
// (timer_create), both every 200 microseconds; and a page of the threads' ids. After the time the program
// kills itself; 0: it goes on.
//
// asked: nothing but a handler of SIGALRM, which others send. It looks at what was interrupted, and counts,
// behind the others, what it finds there that cannot be.
//
// skips: before it counts, a handler of SIGSEGV goes on behind an instruction that faults.
#define _GNU_SOURCE
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { kThreads = 256, kAlarm = kThreads, kTimer, kWrong, kCounts, kPage = 4096 };
static volatile uint64_t* counts;
static volatile uint64_t* ids;
static volatile unsigned sink;

// A symbol for the place where the path is. The nop keeps the place one of its own.
#define MARK(name) __asm__ volatile(#name ": nop")
#define BIT(who, n, bit)    \
  if ((n) >> (bit) & 1) {   \
    MARK(who##_one_##bit);  \
    x += (bit);             \
  } else {                  \
    MARK(who##_zero_##bit); \
    x ^= 5;                 \
  }
__attribute__((noinline)) static unsigned mix(unsigned a, unsigned depth) {
  if (depth == 0) return a;
  return mix(a * 7 + 1, depth - 1) ^ depth;
}

// 16 bits of a number as a path, then a tight loop whose rounds are its lowest three. The first of them is no
// leaf.
// clang-format off
#define SPELL(who, rest)                                                            \
  __attribute__((noinline, noclone, used)) static unsigned who##Spell(uint64_t n) { \
    unsigned x = 1;                                                                 \
    BIT(who, n, 0) BIT(who, n, 1) BIT(who, n, 2) BIT(who, n, 3)                     \
    BIT(who, n, 4) BIT(who, n, 5) BIT(who, n, 6) BIT(who, n, 7)                     \
    BIT(who, n, 8) BIT(who, n, 9) BIT(who, n, 10) BIT(who, n, 11)                   \
    BIT(who, n, 12) BIT(who, n, 13) BIT(who, n, 14) BIT(who, n, 15)                 \
    for (unsigned i = 0; i < (n & 7); ++i) {                                        \
      MARK(who##_round);                                                            \
      x = x * 3 + i;                                                                \
    }                                                                               \
    rest;                                                                           \
    MARK(who##_end);                                                                \
    return x;                                                                       \
  }
// clang-format on
SPELL(main, if (n % 128 == 100) x = mix(x, 1))
SPELL(alarm, )
SPELL(timer, )

static void onAlarm(int signal) {
  uint64_t n = counts[kAlarm] + 1;
  counts[kAlarm] = n;
  sink += alarmSpell(n) + (unsigned)signal;
}

static void onTimer(int signal) {
  uint64_t n = counts[kTimer] + 1;
  counts[kTimer] = n;
  sink += mix(timerSpell(n), (unsigned)signal % 4);
}

// Of count(), as it was called: the frames from its caller on, and its own stack pointer.
enum { kCallers = 16 };
static void* callers[kCallers];
static int callerCount, isAsked;
static volatile uint64_t countStack;
extern char __executable_start[], etext[], count_first[], count_last[];

static void onAsked(int signal, siginfo_t* info, void* data) {
  const ucontext_t* context = data;
  const char* pc = (const char*)context->uc_mcontext.gregs[REG_RIP];
  int right = pc >= __executable_start && pc < etext && info->si_signo == signal;
  // This function, the frame of the kernel, and the interrupted function; then its callers.
  enum { kBefore = 3, kMost = 64 };
  void* frames[kMost];
  const int found = backtrace(frames, kMost), between = found - callerCount - kBefore;
  right = right && between >= 0 && frames[2] == pc;
  for (int i = 0; right && i < callerCount; ++i) right = frames[kBefore + between + i] == callers[i];
  if (pc > count_first && pc < count_last)
    right = right && between == 0 && (uint64_t)context->uc_mcontext.gregs[REG_RSP] == countStack;
  if (!right) ++counts[kWrong];
  onAlarm(signal);
}

static void onFault(int signal, siginfo_t* info, void* data) {
  (void)signal, (void)info;
  ((ucontext_t*)data)->uc_mcontext.gregs[REG_RIP] += 3;
}
__attribute__((noinline)) static void skipFault(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, NULL);
  __asm__ volatile("mov (%%rdi), %%rax" : : "D"(0) : "rax");
}

static uint64_t milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint64_t deadline;

__attribute__((noinline, noclone)) static void* count(void* slot) {
  const long which = (long)slot;
  unsigned local = 0;
  ids[which] = (uint64_t)gettid();
  if (isAsked) {
    void* frames[kCallers + 1];
    callerCount = backtrace(frames, kCallers + 1) - 1;
    memcpy(callers, frames + 1, sizeof callers);
  }
  for (uint64_t n = 1;; ++n) {
    __asm__ volatile("count_first: movq %%rsp, %0" : "=m"(countStack));
    counts[which] = n;
    local += mainSpell(n);
    if (n % 16 == 0) local = mix(local, 5);
    if (deadline != 0 && n % 256 == 0 && milliseconds() > deadline) kill(getpid(), SIGKILL);
    if (local == 12345) sink = local;
    MARK(count_last);
  }
  return NULL;
}

static void onClock(void (*handler)(int), int signal) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, NULL);
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const int file = open(argv[1], O_RDWR);
  counts = mmap(NULL, 2 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file < 0 || counts == MAP_FAILED) return 1;
  ids = counts + kPage / sizeof *counts;
  const long threads = atol(argv[2]);
  if (atol(argv[3]) != 0) deadline = milliseconds() + (uint64_t)atol(argv[3]);
  for (int i = 4; i < argc; ++i) {
    if (strcmp(argv[i], "alarm") == 0) {
      onClock(onAlarm, SIGALRM);
      const struct itimerval every = {{0, 200}, {0, 200}};
      setitimer(ITIMER_REAL, &every, NULL);
    } else if (strcmp(argv[i], "asked") == 0) {
      isAsked = 1;
      struct sigaction action;
      memset(&action, 0, sizeof action);
      action.sa_sigaction = onAsked;
      action.sa_flags = SA_RESTART | SA_SIGINFO;
      sigaction(SIGALRM, &action, NULL);
    } else if (strcmp(argv[i], "skips") == 0) {
      skipFault();
    } else if (strcmp(argv[i], "timer") == 0) {
      onClock(onTimer, SIGRTMIN);
      timer_t timer;
      struct sigevent event;
      memset(&event, 0, sizeof event);
      event.sigev_notify = SIGEV_SIGNAL;
      event.sigev_signo = SIGRTMIN;
      const struct itimerspec every = {{0, 200000}, {0, 200000}};
      if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return 1;
      timer_settime(timer, 0, &every, NULL);
    }
  }
  for (long i = 1; i < threads && i < kThreads; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, count, (void*)i) != 0) return 1;
  }
  count((void*)0);
  return 0;
}
