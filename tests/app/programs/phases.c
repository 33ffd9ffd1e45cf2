// Three phases, each with functions of its own, and how much each did; then it is killed, or crashes.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

int main(int argc, char** argv) {
  const long rounds = argc > 2 ? atol(argv[2]) : 1000;
  phase(0, load_table, rounds);
  phase(1, sort_table, rounds);
  phase(2, write_table, rounds);
  if (argc > 1 && strcmp(argv[1], "killed") == 0) kill(getpid(), SIGKILL);
  abort();
}
