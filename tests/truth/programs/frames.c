// Frames of every size: none, large ones, alloca, arrays of variable length, over-aligned locals.
#include <alloca.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int large(int depth) {
  unsigned char block[20000];
  for (unsigned i = 0; i < sizeof block; i += 997) block[i] = (unsigned char)(i + (unsigned)depth);
  int total = block[997 * 3] + block[997 * 7];
  return depth == 0 ? total : total + large(depth - 1);
}

static unsigned withAlloca(unsigned n) {
  unsigned* values = alloca(n * sizeof *values);
  for (unsigned i = 0; i < n; ++i) values[i] = i < 2 ? 1 : values[i - 1] + values[i - 2];
  unsigned total = 0;
  for (unsigned i = n; i-- > 0;) total ^= values[i] << (i & 7);
  return total;
}

static int withArray(int n) {
  int grid[n][n + 1];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= n; ++j) grid[i][j] = i * j - n;
  int total = 0;
  for (int i = 0; i < n; ++i) total += grid[i][n - i];
  return total;
}

static int aligned(int n) {
  _Alignas(64) volatile char line[64];
  for (int i = 0; i < 64; ++i) line[i] = (char)(i ^ n);
  return (int)((uintptr_t)line % 64) + line[n % 64];
}

static int leaf(int a, int b, int c) { return a < b ? b - c : a - c; }

static int manyArguments(int a, int b, int c, int d, int e, int f, int g, int h, int i, double x) {
  if (x > 0.5) return a + b + c + d + e;
  return f + g + h + i;
}

int main(void) {
  printf("%d %u %u\n", large(6), withAlloca(5), withAlloca(40));
  for (int n = 1; n < 9; n += 3) printf("%d %d %d\n", withArray(n), aligned(n), leaf(n, 4, 1));
  printf("%d %d\n", manyArguments(1, 2, 3, 4, 5, 6, 7, 8, 9, 0.9),
         manyArguments(1, 2, 3, 4, 5, 6, 7, 8, 9, 0.1));
  return 0;
}
