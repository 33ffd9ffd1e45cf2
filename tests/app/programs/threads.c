// Several threads: `threads fault` has one that faults while another works and a third has ended; `threads
// deadlock` says "ready" and hangs, two workers each with the lock that the other wants, and main waiting for
// the first.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t meeting;
static volatile long sum;

__attribute__((noinline)) static void add(long value) { sum += value; }

static void* countOn(void* argument) {
  pthread_setname_np(pthread_self(), "counter");
  long count = 0;
  pthread_barrier_wait(&meeting);
  for (;;) {
    add(++count);
    // So that the ring still has what was done at the fault when the snap is made.
    if (count % 200 == 0) usleep(500);
  }
  return argument;
}

static void* end(void* argument) {
  for (long i = 0; i < 50; ++i) add(i);
  return argument;
}

static void* crash(void* argument) {
  pthread_setname_np(pthread_self(), "crasher");
  long* nothing = argument;
  pthread_barrier_wait(&meeting);
  for (long i = 0; i < 200000; ++i) add(i);
  *nothing = 1;
  return NULL;
}

static void* lockBoth(void* argument) {
  const int other = argument != NULL;
  pthread_setname_np(pthread_self(), other ? "second" : "first");
  pthread_mutex_t* mine = other ? &second : &first;
  pthread_mutex_t* theirs = other ? &first : &second;
  pthread_mutex_lock(mine);
  pthread_barrier_wait(&meeting);
  pthread_mutex_lock(theirs);
  add(1);
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t one, two, three;
  const int deadlock = argc > 1 && strcmp(argv[1], "deadlock") == 0;
  pthread_barrier_init(&meeting, NULL, deadlock ? 3 : 2);
  if (deadlock) {
    pthread_create(&one, NULL, lockBoth, NULL);
    pthread_create(&two, NULL, lockBoth, &two);
    pthread_barrier_wait(&meeting);
    puts("ready");
    fflush(stdout);
    pthread_join(one, NULL);
    return 0;
  }
  pthread_create(&three, NULL, end, NULL);
  pthread_join(three, NULL);
  pthread_create(&one, NULL, countOn, NULL);
  pthread_create(&two, NULL, crash, NULL);
  pthread_join(two, NULL);
  return 0;
}
