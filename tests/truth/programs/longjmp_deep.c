// longjmp out of deep recursion, and setjmp as the head of a loop.
#include <setjmp.h>
#include <stdio.h>

static jmp_buf top, middle;

static void descend(int depth, int target) {
  volatile int here = depth;
  if (depth == target) {
    if (target & 1) longjmp(middle, depth);
    longjmp(top, depth);
  }
  descend(depth + 1, target);
  printf("not reached, at %d\n", here);
}

static int through(int target) {
  int came = setjmp(middle);
  if (came != 0) return came * 10;
  descend(0, target);
  return -1;
}

int main(void) {
  volatile int round = 0, total = 0;
  int came = setjmp(top);
  if (came != 0) total += came;
  while (round < 12) {
    ++round;
    total += through(round * 9);
  }
  printf("rounds %d, total %d\n", round, total);

  volatile int tries = 0;
  jmp_buf again;
  setjmp(again);
  if (++tries < 40) longjmp(again, 1);
  printf("tries %d\n", tries);
  return 0;
}
