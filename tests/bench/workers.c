// Something large to record: threads that evaluate random expressions until each has filled its ring many
// times over, then a fault in one of them. workers [THREADS [ROUNDS]]
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  uint64_t state;
  int depth;
} Source;

static uint64_t next(Source* source) {
  source->state ^= source->state << 13;
  source->state ^= source->state >> 7;
  source->state ^= source->state << 17;
  return source->state;
}

static int64_t expression(Source* source);

static int64_t leaf(Source* source) {
  uint64_t value = next(source);
  if (value % 5 == 0) return -(int64_t)(value % 100);
  return (int64_t)(value % 1000);
}

static int64_t product(Source* source) {
  int64_t value = expression(source);
  while (next(source) % 3 == 0) value = value * leaf(source) % 1000003;
  return value;
}

static int64_t expression(Source* source) {
  if (source->depth > 8) return leaf(source);
  ++source->depth;
  int64_t value = 0;
  switch (next(source) % 6) {
    case 0:
      value = product(source) + product(source);
      break;
    case 1:
      value = product(source) - leaf(source);
      break;
    case 2:
      value = expression(source) / (1 + llabs(leaf(source)));
      break;
    case 3:
      value = leaf(source) > leaf(source) ? leaf(source) : expression(source);
      break;
    default:
      value = leaf(source);
      break;
  }
  --source->depth;
  return value;
}

static long rounds = 100000;
static int64_t* result;

static void* work(void* argument) {
  Source source = {.state = 88172645463325252u + (uintptr_t)argument * 7919, .depth = 0};
  int64_t sum = 0;
  for (long i = 0; i < rounds; ++i) sum += expression(&source);
  return (void*)(intptr_t)sum;
}

int main(int argc, char** argv) {
  long count = argc > 1 ? atol(argv[1]) : 64;
  if (argc > 2) rounds = atol(argv[2]);
  pthread_t* threads = calloc((size_t)count, sizeof *threads);
  for (long i = 0; i < count; ++i) pthread_create(&threads[i], NULL, work, (void*)(intptr_t)i);
  int64_t sum = 0;
  for (long i = 0; i < count; ++i) {
    void* value = NULL;
    pthread_join(threads[i], &value);
    sum += (intptr_t)value;
  }
  work(NULL);  // the main thread's ring, too
  printf("%lld\n", (long long)sum);
  *result = sum;
  return 0;
}
