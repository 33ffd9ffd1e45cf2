// A thread that counts, and one that meets a fault at an address which says how far that had come. Both on
// one processor, so that the first stands still while the second runs. Told how, it handles the fault first,
// and waits for as long as takes the other one some thousand rounds.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile unsigned long counted;

// A microsecond or so, which makes no records: what it did from the start on has room in its ring.
__attribute__((noinline)) static void count_one(void) {
  __asm__ volatile(".rept 64; pause; .endr");
  ++counted;
}

static void* count(void* unused) {
  for (;;) count_one();
  return unused;
}

static const char* ending = "";

static void handle(int number) {
  usleep(2000);
  if (strcmp(ending, "_exit") == 0) _exit(3);
  signal(number, SIG_DFL);
  if (strcmp(ending, "raise") == 0) raise(number);
}

int main(int argc, char** argv) {
  const unsigned long nowhere = 0x100000000000;
  cpu_set_t first, allowed;
  pthread_t thread;
  sched_getaffinity(0, sizeof allowed, &allowed);
  CPU_ZERO(&first);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&first) == 0; ++i)
    if (CPU_ISSET(i, &allowed)) CPU_SET(i, &first);
  sched_setaffinity(0, sizeof first, &first);
  if (pthread_create(&thread, 0, count, 0) != 0) return 1;
  if (argc > 1) {
    ending = argv[1];
    signal(SIGSEGV, handle);
  }
  while (counted < 1000) sched_yield();
  *(volatile char*)(nowhere + counted) = 1;
  return 0;
}
