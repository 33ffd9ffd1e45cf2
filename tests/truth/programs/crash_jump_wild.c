// Crashes: jumps to where there is no code, from a damaged table.
#include <stdint.h>
#include <stdio.h>

typedef int (*Action)(int);
static int keep(int x) { return x; }
static int halve(int x) { return x / 2; }
static Action actions[3] = {keep, halve, keep};

static int perform(int index, int value) {
  if (value > 1000) return 0;
  return actions[index](value);
}

int main(void) {
  int total = 0;
  for (int i = 0; i < 10; ++i) total += perform(i % 3, i * 7);
  printf("%d\n", total);
  fflush(stdout);
  actions[1] = (Action)(uintptr_t)0x123456789000;
  for (int i = 0; i < 10; ++i) total += perform(i % 3, i * 7);
  printf("%d\n", total);
  return 0;
}
