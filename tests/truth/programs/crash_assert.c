// Crashes: an assertion fails in a queue.
#undef NDEBUG
#include <assert.h>
#include <stdio.h>

static int queue[8];
static unsigned head, tail;

static void push(int value) {
  assert(tail - head < 8);
  queue[tail++ % 8] = value;
}
static int pop(void) {
  assert(head != tail);
  return queue[head++ % 8];
}

int main(void) {
  int total = 0;
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < round + 1; ++i) push(round * i);
    for (int i = 0; i < 3; ++i) total += pop();
  }
  printf("%d\n", total);
  return 0;
}
