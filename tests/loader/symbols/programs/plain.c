/* C: a nested function, a switch, static functions, a loop that the compiler unrolls. */
#include <stdio.h>
#include <stdlib.h>

static inline int mix(int a, int b) { return (a << 3) ^ b; }

static int fold(const int* values, int count) {
  int total = 0;
  for (int i = 0; i < count; i++) total = mix(total, values[i]);
  return total;
}

static int kind(int value) {
  switch (value) {
    case 0:
      return 10;
    case 1:
      return mix(value, 7);
    case 2:
      puts("two");
      return 30;
    case 3:
      abort();
    case 4:
      return mix(mix(value, 1), 2);
    default:
      return -1;
  }
}

int outer(int start) {
  int inner(int more) { return start + mix(more, start); }
  int total = 0;
  for (int i = 0; i < start; i++) total += inner(i);
  return total;
}

int main(int argc, char** argv) {
  int values[16];
  (void)argv;
  for (int i = 0; i < 16; i++) values[i] = i * argc;
  printf("%d %d %d\n", fold(values, 16), kind(argc), outer(argc + 3));
  return 0;
}
