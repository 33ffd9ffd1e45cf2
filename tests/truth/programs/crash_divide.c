// Crashes: divides by zero, in the average of nothing.
#include <stdio.h>

static int average(const int* values, int count) {
  int total = count / 2;  // rounds to the nearest; and a sum that the compiler does not know to be zero
  for (int i = 0; i < count; ++i) total += values[i];
  for (int i = count; i < 3; ++i) total += values[4 - i];
  return total / count;
}

int main(void) {
  static const int values[] = {3, 8, 1, 9, 4};
  for (volatile int count = 5; count >= 0; --count) {
    printf("%d\n", average(values, count));
    fflush(stdout);
  }
  return 0;
}
