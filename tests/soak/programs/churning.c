// Threads that come and go while a hundred others load and unload libraries and the process forks.
//
//   churning ROUNDS THREADS FORKS LIBRARY...
//
// A round: each of a hundred workers, named worker-N, opens, calls and closes libraries in an order of its
// own; meanwhile THREADS short-lived threads run, no more than 50 at a time, and FORKS children (which only
// calculate: as they were forked, others may have had locks of libc's). Then all rest: it prints the round's
// sum, which depends on ROUNDS, THREADS, FORKS and the libraries alone, and waits for a line on standard
// input. After the last round the workers rest until the process is killed.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kWorkers = 100, kTogether = 50, kOpenings = 12 };

typedef unsigned (*Value)(unsigned);

static char** libraries;
static unsigned libraryCount, rounds;
static pthread_barrier_t begins, ends;
static uint64_t sum;
static Value keptValue;  // of the first library

__attribute__((noreturn)) static void fail(const char* what) {
  fprintf(stderr, "churning: %s\n", what);
  _exit(9);
}

static unsigned next(unsigned* state) {
  *state = *state * 1103515245 + 12345;
  return *state >> 8;
}

static unsigned work(unsigned n) {
  unsigned x = n;
  for (unsigned i = 0; i < n % 6 + 2; ++i) x = x % 3 == 0 ? x / 3 + i : x * 2 + 1;
  return x % 10007;
}

static unsigned useLibrary(unsigned which, unsigned n) {
  void* library = dlopen(libraries[which % libraryCount], RTLD_NOW | RTLD_LOCAL);
  if (!library) fail(dlerror());
  const Value value = (Value)dlsym(library, "moduleValue");
  if (!value) fail(dlerror());
  const unsigned result = value(n);
  if (dlclose(library)) fail(dlerror());
  return result;
}

static void* worker(void* number) {
  unsigned random = (unsigned)(uintptr_t)number;
  for (unsigned round = 0; round < rounds; ++round) {
    pthread_barrier_wait(&begins);
    uint64_t own = 0;
    for (unsigned i = 0; i < kOpenings; ++i) {
      own += useLibrary(next(&random), next(&random) % 1000);
      own += work(next(&random) % 1000);
    }
    __atomic_fetch_add(&sum, own, __ATOMIC_RELAXED);
    pthread_barrier_wait(&ends);
  }
  pthread_barrier_wait(&begins);  // for ever: main does not come
  return NULL;
}

static void* brief(void* number) {
  __atomic_fetch_add(&sum, work((unsigned)(uintptr_t)number), __ATOMIC_RELAXED);
  return NULL;
}

static void manyThreads(unsigned count) {
  pthread_t all[kTogether];
  for (unsigned done = 0; done < count; done += kTogether) {
    const unsigned many = count - done < kTogether ? count - done : kTogether;
    for (unsigned i = 0; i < many; ++i)
      if (pthread_create(&all[i], NULL, brief, (void*)(uintptr_t)(done + i))) fail("no thread");
    for (unsigned i = 0; i < many; ++i) pthread_join(all[i], NULL);
  }
}

// Its exit status is 7 bits of what it calculated.
static void child(unsigned number) { _exit((int)((work(number) + keptValue(number)) % 128)); }

static void* manyForks(void* count) {
  for (unsigned i = 0; i < (unsigned)(uintptr_t)count; ++i) {
    const pid_t pid = fork();
    if (pid < 0) fail("no child");
    if (pid == 0) child(i);
    int status = 0;
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) >= 128) {
      fprintf(stderr, "churning: child %u ended with status %#x\n", i, (unsigned)status);
      _exit(9);
    }
    __atomic_fetch_add(&sum, (uint64_t)WEXITSTATUS(status), __ATOMIC_RELAXED);
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  rounds = (unsigned)atoi(argv[1]);
  const unsigned threads = (unsigned)atoi(argv[2]), forks = (unsigned)atoi(argv[3]);
  libraries = argv + 4;
  libraryCount = (unsigned)argc - 4;
  void* kept = dlopen(libraries[0], RTLD_NOW);
  if (!kept) fail(dlerror());
  keptValue = (Value)dlsym(kept, "moduleValue");
  pthread_barrier_init(&begins, NULL, kWorkers + 1);
  pthread_barrier_init(&ends, NULL, kWorkers + 1);
  for (unsigned i = 0; i < kWorkers; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, worker, (void*)(uintptr_t)(i + 1))) fail("no worker");
    char name[16];
    snprintf(name, sizeof name, "worker-%u", i);
    pthread_setname_np(thread, name);
  }
  for (unsigned round = 0; round < rounds; ++round) {
    sum = 0;
    pthread_barrier_wait(&begins);
    pthread_t forking;
    if (pthread_create(&forking, NULL, manyForks, (void*)(uintptr_t)forks)) fail("no thread");
    manyThreads(threads);
    pthread_join(forking, NULL);
    pthread_barrier_wait(&ends);
    printf("round %u: %lu\n", round, (unsigned long)sum);
    fflush(stdout);
    if (getchar() == EOF) return 0;
  }
  for (;;) pause();
}
