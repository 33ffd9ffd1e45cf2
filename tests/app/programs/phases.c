// Three phases, each with functions of its own, and how much each did; then it is killed, ends, or crashes.
// Or it filters its system calls first, and lets all through.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint32_t seed = 1;
static uint64_t calls[3];

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

// Nothing of these may be worked out beforehand, or be made one.
#define WORK(name, step)                                       \
  __attribute__((noipa)) static void name(uint64_t* counter) { \
    ++*counter;                                                \
    uint32_t x = seed;                                         \
    if ((x & step) != 0) x += step;                            \
    seed = x * 1664525 + 1013904223;                           \
  }
WORK(load_table, 0x10)
WORK(sort_table, 0x100)
WORK(write_table, 0x1000)

typedef void work(uint64_t*);
__attribute__((noipa)) static void phase(int number, work* what, long rounds) {
  const uint64_t start = now();
  for (long i = 0; i < rounds; ++i) what(&calls[number]);
  printf("%d %llu %llu %llu\n", number, (unsigned long long)start, (unsigned long long)now(),
         (unsigned long long)calls[number]);
  fflush(stdout);
}

static int filter(void) {
  struct sock_filter allow = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
  const struct sock_fprog program = {1, &allow};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
}

int main(int argc, char** argv) {
  const int filters = argc > 1 && strcmp(argv[1], "filters") == 0;
  if (filters && filter() != 0) return 1;
  const long rounds = argc > 2 ? atol(argv[2]) : 1000;
  phase(0, load_table, rounds);
  phase(1, sort_table, rounds);
  phase(2, write_table, rounds);
  if (argc > 1 && strcmp(argv[1], "killed") == 0) kill(getpid(), SIGKILL);
  if (filters || (argc > 1 && strcmp(argv[1], "ends") == 0)) return 0;
  if (argc > 1 && strcmp(argv[1], "forks") == 0) return fork() == 0 ? 0 : wait(NULL) < 0;
  abort();
}
