// Threads that wait for each other, in the way that the first argument names.
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "module.h"

static volatile uint64_t counter;
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t barrier;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void* takesBoth(void* first) {
  const long mine = (long)first;
  volatile uint64_t own = 0;
  count(&own, 10);
  pthread_mutex_lock(&locks[mine]);
  pthread_barrier_wait(&barrier);
  pthread_mutex_lock(&locks[1 - mine]);
  return first;
}

static void* takesOne(void* unused) {
  pthread_mutex_lock(&locks[0]);
  return unused;
}

static void* polls(void* unused) {
  printf("idle\n");
  fflush(stdout);
  poll(NULL, 0, 3500);
  return unused;
}

static void* sleeps(void* unused) {
  pause();
  return unused;
}

static void* spins(void* unused) {
  prctl(PR_SET_NAME, "spinner");
  for (;;) count(&counter, 1000);
  return unused;
}

// While this runs, the thread is not in the call that it interrupts.
static void lingers(int signal) {
  (void)signal;
  struct timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < start.tv_sec * 1000 + start.tv_nsec / 1000000 + 500);
}

static void* contends(void* unused) {
  for (int i = 0; i < 2500; ++i) {
    pthread_mutex_lock(&locks[0]);
    usleep(500);
    pthread_mutex_unlock(&locks[0]);
  }
  return unused;
}

int main(int argc, char** argv) {
  (void)argc;
  count(&counter, 10);
  pthread_t threads[2];
  if (!strcmp(argv[1], "two")) {
    printf("%p %p\n", (void*)&locks[0], (void*)&locks[1]);
    fflush(stdout);
    pthread_barrier_init(&barrier, NULL, 2);
    for (long i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, takesBoth, (void*)i);
    pause();
  }
  if (!strcmp(argv[1], "join") || !strcmp(argv[1], "self")) {
    printf("%p\n", (void*)&locks[0]);
    fflush(stdout);
    pthread_mutex_lock(&locks[0]);
    if (!strcmp(argv[1], "self")) pthread_mutex_lock(&locks[0]);
    pthread_create(&threads[0], NULL, takesOne, NULL);
    pthread_join(threads[0], NULL);
  }
  if (!strcmp(argv[1], "spins")) {
    printf("spinning\n");
    fflush(stdout);
    for (;;) count(&counter, 1000);
  }
  if (!strcmp(argv[1], "stuck")) {
    printf("stuck\n");
    fflush(stdout);
    pthread_mutex_lock(&locks[0]);
    pthread_cond_wait(&never, &locks[0]);
  }
  if (!strcmp(argv[1], "asks")) {  // somebody who does not answer; while another thread waits for a signal
    int ends[2];
    char answer;
    struct sigaction action = {.sa_handler = lingers, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 9;
    pthread_create(&threads[0], NULL, sleeps, NULL);
    printf("asks\n");
    fflush(stdout);
    count(&counter, 10);
    return (int)recv(ends[0], &answer, 1, 0);
  }
  if (!strcmp(argv[1], "polls")) {
    printf("polls\n");
    fflush(stdout);
    poll(NULL, 0, -1);
  }
  if (!strcmp(argv[1], "idle")) {
    pthread_create(&threads[0], NULL, polls, NULL);
    pthread_join(threads[0], NULL);
  }
  if (!strcmp(argv[1], "worker")) {
    pthread_create(&threads[0], NULL, spins, NULL);
    for (;;) poll(NULL, 0, 100);
  }
  if (!strcmp(argv[1], "busy")) {
    for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, contends, NULL);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    // What looks for hangs is no child that the program meets.
    printf("%d\n", (int)waitpid(-1, NULL, 0));
  }
  return 0;
}
