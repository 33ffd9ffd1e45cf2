// Threads that come and go, with traced code in each.
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "module.h"

static volatile uint64_t counter;
static volatile pid_t vanishing;

static void* brief(void* unused) {
  volatile uint64_t own = 0;
  count(&own, 5);
  __atomic_fetch_add(&counter, own, __ATOMIC_RELAXED);
  return unused;
}

// Ends without any of what libc does at the end of a thread.
static void* vanishes(void* unused) {
  count(&counter, 5);
  vanishing = (pid_t)syscall(SYS_gettid);
  syscall(SYS_exit, 0);
  return unused;
}

static volatile int stage;
static void await(int wanted) {
  while (stage < wanted) usleep(100);
}

static void* holdsOn(void* unused) {
  count(&counter, 3);
  stage = 1;
  await(3);
  return unused;
}

static void* holdsOnAndVanishes(void* unused) {
  holdsOn(unused);
  return vanishes(unused);
}

// Its first traced code runs while the other one is there, the rest when that has ended.
static void* comesLate(void* unused) {
  volatile uint64_t own = 0;
  count(&own, 300);
  stage = 2;
  await(4);
  count(&own, 3000);
  return unused;
}

static unsigned descriptors(void) {
  unsigned found = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (readdir(folder)) ++found;
  closedir(folder);
  return found;
}

static unsigned mappings(void) {
  unsigned lines = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  for (int c; (c = getc(maps)) != EOF;) lines += c == '\n';
  fclose(maps);
  return lines;
}

static void waves(unsigned threads, unsigned together) {
  pthread_t all[64];
  for (unsigned done = 0; done < threads; done += together) {
    for (unsigned i = 0; i < together; ++i)
      if (pthread_create(&all[i], NULL, brief, NULL)) exit(9);
    for (unsigned i = 0; i < together; ++i) pthread_join(all[i], NULL);
  }
}

int main(int argc, char** argv) {
  (void)argc;
  count(&counter, 10);
  pthread_t thread, other;
  if (!strcmp(argv[1], "waves")) {
    waves(128, 64);
    const unsigned files = descriptors(), places = mappings();
    waves((unsigned)atoi(argv[2]), 64);
    // libc caches stacks, of which more may be in use at one time.
    printf("%lu %d %d\n", (unsigned long)counter, descriptors() == files, mappings() < places + 150);
  }
  if (!strcmp(argv[1], "vanish")) {
    for (int i = 0; i < 20; ++i) {
      vanishing = 0;
      if (pthread_create(&thread, NULL, vanishes, NULL)) return 9;
      while (vanishing == 0 || syscall(SYS_tgkill, getpid(), vanishing, 0) == 0) usleep(100);
    }
    printf("%lu\n", (unsigned long)counter);
  }
  if (!strcmp(argv[1], "late")) {
    pthread_create(&other, NULL, holdsOn, NULL);
    await(1);
    pthread_create(&thread, NULL, comesLate, NULL);
    await(2);
    stage = 3;
    pthread_join(other, NULL);
    stage = 4;
    pthread_join(thread, NULL);
  }
  // Nobody says that a ring has become free; at the end somebody looks.
  if (!strcmp(argv[1], "unseen")) {
    pthread_create(&other, NULL, holdsOnAndVanishes, NULL);
    await(1);
    pthread_create(&thread, NULL, comesLate, NULL);
    await(2);
    stage = 3;
    while (vanishing == 0 || syscall(SYS_tgkill, getpid(), vanishing, 0) == 0) usleep(100);
    stage = 4;
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, brief, NULL);
    pthread_join(thread, NULL);
  }
  fflush(stdout);
  kill(getpid(), SIGKILL);
  return 0;
}
