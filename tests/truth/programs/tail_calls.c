// Calls in tail position: at -O2 they are jumps, also through pointers and into other functions' middles.
#include <stdio.h>

typedef long (*Next)(long, long);
static long finish(long value, long left) { return value * 2 + left; }

__attribute__((noinline)) static long stepDown(long value, long left);
__attribute__((noinline)) static long stepUp(long value, long left) {
  if (left <= 0) return finish(value, left);
  return stepDown(value + left, left - 1);
}
__attribute__((noinline)) static long stepDown(long value, long left) {
  if (value > 1000) return stepUp(value / 7, left);
  return stepUp(value - 1, left - 2);
}

static Next table[3];
__attribute__((noinline)) static long dispatch(long value, long left) {
  return table[value % 3](value + 1, left);
}
__attribute__((noinline)) static long third(long value, long left) {
  return left == 0 ? value : dispatch(value + 2, left - 1);
}

__attribute__((noinline)) static int say(const char* format, long value) { return printf(format, value); }

int main(void) {
  table[0] = third, table[1] = stepUp, table[2] = third;
  for (long i = 0; i < 30; ++i) say("%ld\n", stepUp(i * 37, i) + dispatch(i, 3));
  return 0;
}
