// Forks in signal handlers: the child goes on with what the signal interrupted, to the same result.
//
//   forking [WAY [CLOCK [DEPTH [ROUNDS [KILLED]]]]]
//
// WAY: how a child is made: fork, _Fork, raw (syscall(2)), clone (the same), asm (the instruction itself).
// CLOCK: when: step (at every instruction of a stretch of code, by the trap flag) or timer (somewhere in it).
// DEPTH: plain; nested (in a handler that interrupted a handler); again (the child's child does the same).
// KILLED: so many children, one after the other, come out right and end, then one by SIGKILL; 0: none.
// Prints how many children there were, and how many of them ended otherwise than they should.
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { kTrapFlag = 0x100, kAreas = 6, kAreaSize = 256 << 10, kMostForked = 4 };
enum { kRight, kWrongSum, kDamagedMemory, kWrongChild };

static const char *way, *depth;
static volatile int stepping, generation, forked, busy;
static unsigned killed;
static volatile unsigned children, failures, spoiled;
static pid_t pids[kMostForked];
static unsigned char* areas[kAreas];

// Keeps as much in registers as there is, with branches on it.
__attribute__((noinline)) static uint64_t churn(uint64_t n, unsigned rounds) {
  uint64_t a = n, b = n * 3, c = n ^ 0x55, d = n + 7, e = n * 11, f = ~n, g = n << 3, h = n >> 1, i = n - 9;
  for (unsigned round = 0; round < rounds; ++round) {
    if ((a ^ b) & 1)
      c += d * 5, d ^= e;
    else
      e -= f, f += a;
    if ((c + g) & 2)
      g = (g << 7) | (g >> 57);
    else
      h ^= c + b;
    if ((h ^ i) & 4)
      i = i * 3 + round;
    else
      a += i ^ g;
    if ((e + f) & 1)
      b ^= h + d;
    else
      d += c - a;
    a += round, b ^= a >> 5, f += h, e ^= i;
  }
  return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i;
}

__attribute__((noinline)) static uint64_t tree(uint64_t n, unsigned height) {
  if (height == 0) return n & 1 ? churn(n, 2) : n * 7;
  const uint64_t left = tree(n * 2, height - 1);
  return left ^ tree(left + n, height - 1);
}

__attribute__((noinline)) static uint64_t work(unsigned long n) {
  return stepping ? churn(n, 2) ^ tree(n, 1) : churn(n, 8000) ^ tree(n, 12) ^ churn(n + 1, 8000);
}

static pid_t makeChild(void) {
  if (!strcmp(way, "_Fork")) return _Fork();
  if (!strcmp(way, "raw")) return (pid_t)syscall(SYS_fork);
  if (!strcmp(way, "clone")) return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
  if (!strcmp(way, "asm")) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_fork) : "rcx", "r11", "memory");
    return (pid_t)result;
  }
  return fork();
}

static int collect(void) {
  int bad = 0;
  for (int i = 0; i < forked; ++i) {
    int status = 0;
    while (waitpid(pids[i], &status, 0) < 0) {
    }
    const int asked = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && killed != 0;
    if (status != 0 && !asked) {
      ++bad;
      fprintf(stderr, "a child ended with %#x\n", (unsigned)status);
    }
  }
  forked = 0;
  return bad;
}

// Memory of the child's own, everywhere where there is room.
static void takeMemory(void) {
  for (int i = 0; i < kAreas; ++i) {
    areas[i] = mmap(NULL, kAreaSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(areas[i], i + 1, kAreaSize);
  }
}

static int memoryIsRight(void) {
  for (int i = 0; i < kAreas; ++i)
    if (areas[i] != NULL && (areas[i][0] != i + 1 || memcmp(areas[i], areas[i] + 1, kAreaSize - 1) != 0))
      return 0;
  return 1;
}

static void arm(unsigned microseconds) {
  const struct itimerval once = {{0, 0}, {0, microseconds}};
  setitimer(ITIMER_REAL, &once, NULL);
}

static void forkHere(void) {
  if (forked == kMostForked) return;
  const pid_t child = makeChild();
  if (child > 0) {
    pids[forked++] = child;
    ++children;
  } else if (child == 0) {
    ++generation;
    forked = 0;
    takeMemory();
    if ((children + (unsigned)busy) % 2 == 1) spoiled += (unsigned)tree((unsigned)generation, 3);
    if (!strcmp(depth, "again") && generation == 1) arm(60);
  }
}

static void onNested(int signal) {
  spoiled += (unsigned)tree((unsigned)signal, 2);
  forkHere();
  spoiled += (unsigned)churn(spoiled, 2);
}

static void onAlarm(int signal, siginfo_t* info, void* data) {
  ucontext_t* const context = data;
  (void)info;
  spoiled += (unsigned)tree((unsigned)signal, 2);
  if (!strcmp(depth, "nested")) {
    raise(SIGUSR1);
    spoiled += (unsigned)churn(spoiled, 2);
  } else {
    forkHere();
  }
  if (signal == SIGTRAP && generation == 0 && stepping) failures += (unsigned)collect();
  if (generation != 0 || !stepping) context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)kTrapFlag;
}

__attribute__((noinline)) static void setTrapFlag(void) {
  __asm__ volatile("pushfq\n\torq %0, (%%rsp)\n\tpopfq" ::"i"(kTrapFlag) : "memory", "cc");
}

static void onSignal(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  if (strcmp(way, "asm") != 0) sigfillset(&action.sa_mask), sigdelset(&action.sa_mask, SIGUSR1);
  sigaction(signal, &action, NULL);
}

// One round. A child comes out of work() too, and ends here.
static void doRound(unsigned long n, int byStep) {
  stepping = byStep;
  const uint64_t right = work(n);
  if (byStep)
    setTrapFlag();
  else
    arm(20 + n * 37 % 230);
  const uint64_t sum = work(n);
  stepping = 0;
  if (!byStep) arm(0);
  const int mine = generation;
  int status = sum == right ? kRight : kWrongSum;
  if (status == kRight && !memoryIsRight()) status = kDamagedMemory;
  const int bad = collect();
  if (mine != 0) {
    if (status == kRight && bad == 0 && killed != 0 && children % killed == 0) kill(getpid(), SIGKILL);
    _exit(status != kRight ? status : bad != 0 ? kWrongChild : kRight);
  }
  failures += (unsigned)bad + (status != kRight);
}

int main(int argc, char** argv) {
  way = argc > 1 ? argv[1] : "fork";
  const int byStep = argc > 2 && !strcmp(argv[2], "step");
  depth = argc > 3 ? argv[3] : "plain";
  const unsigned long rounds = argc > 4 ? strtoul(argv[4], NULL, 10) : 2;
  killed = argc > 5 ? (unsigned)strtoul(argv[5], NULL, 10) : 0;
  onSignal(SIGALRM, onAlarm);
  onSignal(SIGTRAP, onAlarm);
  signal(SIGUSR1, onNested);
  for (unsigned long n = 0; n < rounds; ++n) {
    busy = n % 2 == 1;
    doRound(n, byStep);
  }
  printf("%u children, %u failures\n", children, failures);
  return failures != 0;
}
