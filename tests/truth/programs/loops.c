// Loops of every kind, nested, left early and begun again.
#include <stdio.h>

static unsigned collatz(unsigned n) {
  unsigned steps = 0;
  while (n != 1) {
    n = (n & 1) ? 3 * n + 1 : n / 2;
    ++steps;
  }
  return steps;
}

static int findPair(const int* values, int count, int sum) {
  int found = -1;
  for (int i = 0; i < count; ++i) {
    if (values[i] < 0) continue;
    for (int j = i + 1; j < count; ++j) {
      if (values[j] < 0) continue;
      if (values[i] + values[j] == sum) {
        found = i * 100 + j;
        goto done;
      }
      if (values[j] > sum) break;
    }
  }
done:
  return found;
}

int main(void) {
  unsigned longest = 0, at = 0;
  for (unsigned n = 1; n <= 60; ++n) {
    unsigned steps = collatz(n);
    if (steps > longest) longest = steps, at = n;
  }
  printf("longest: %u at %u\n", longest, at);

  int values[32];
  for (int i = 0; i < 32; ++i) values[i] = (i * 37) % 41 - 5;
  for (int sum = 0; sum < 12; ++sum) printf("pair for %d: %d\n", sum, findPair(values, 32, sum));

  unsigned bits = 0, x = 0xDEADBEEF;
  do {
    bits += x & 1;
    x >>= 1;
  } while (x != 0);
  printf("bits: %u\n", bits);

  int triangle = 0;
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < i; ++j)
      for (int k = 0; k < j; ++k) triangle += (i ^ j ^ k) & 3;
  printf("triangle: %d\n", triangle);
  return 0;
}
