// Recursion: plain, mutual, deep, and with two calls in one expression.
#include <stdio.h>

static int isOdd(unsigned n);
static int isEven(unsigned n) { return n == 0 ? 1 : isOdd(n - 1); }
static int isOdd(unsigned n) { return n == 0 ? 0 : isEven(n - 1); }

static unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

static unsigned ackermann(unsigned m, unsigned n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

static void hanoi(int disks, int from, int to, int by, unsigned* moves) {
  if (disks == 0) return;
  hanoi(disks - 1, from, by, to, moves);
  *moves = *moves * 3 + (unsigned)(from * 4 + to);
  hanoi(disks - 1, by, to, from, moves);
}

static unsigned long sumTo(unsigned n) {
  volatile unsigned here = n;  // keeps the frame, so that it stays a recursion
  return n == 0 ? 0 : here + sumTo(n - 1);
}

int main(void) {
  printf("even(101): %d, odd(77): %d\n", isEven(101), isOdd(77));
  printf("fibonacci(11): %u\n", fibonacci(11));
  printf("ackermann(2, 4): %u\n", ackermann(2, 4));
  unsigned moves = 1;
  hanoi(7, 0, 2, 1, &moves);
  printf("hanoi: %u\n", moves);
  printf("sum: %lu\n", sumTo(1000));
  return 0;
}
