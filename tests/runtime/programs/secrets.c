// Has the value of the environment variable PLANTED, and its argument, in many places, and ends in a fault.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module.h"

static volatile uint64_t counter;
static char global[256];
static char* heap[2];
static pthread_barrier_t barrier;

static void* holds(void* text) {
  char local[256] = "";
  strncpy(local, text, sizeof local - 16);
  strcat(local, "/tail");
  __asm__ volatile("" : : "r"(local) : "memory");
  pthread_barrier_wait(&barrier);
  for (;;) pause();
  return NULL;
}

int main(int argc, char** argv) {
  const char* planted = getenv("PLANTED");
  if (argc < 3 || planted == NULL) return 2;
  count(&counter, 10);
  snprintf(global, sizeof global, "token=%s", planted);
  heap[0] = strdup(planted);
  heap[1] = strdup(argv[2]);
  setenv("COPY", planted, 1);
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_t thread;
  pthread_create(&thread, NULL, holds, heap[0]);
  pthread_barrier_wait(&barrier);
  if (!strcmp(argv[1], "fault")) store(NULL);
  printf("ready\n");
  fflush(stdout);
  getchar();
  return 0;
}
