// Functions that compilers split in two, f and f.cold, whose tables and labels lead from either part into the
// other; and a table with entries that nothing uses, which lead behind the function.
#include <stdio.h>
#include <stdlib.h>

static volatile int rarely;

// Whatever comes to a call of it is moved away.
__attribute__((cold, noinline)) static int rare(int a, const char* why) {
  printf("rare %d %s\n", a, why);
  return a + rarely;
}

__attribute__((noinline)) static int cases(int kind, int a) {
  int sum = a;
  switch (kind) {
    case 0:
      sum = a * 3 + 1;
      break;
    case 1:
      sum = rare(a, "one") - 2;
      break;
    case 2:
      sum ^= a << 2;
      printf("two\n");
      break;
    case 3:
      sum += rare(a + 1, "three") * 5;
      break;
    case 4:
      sum = abs(a - 77) % 13;
      break;
    case 5:
      sum = rare(sum, "five") + rare(a, "five again");
      break;
    case 6:
      sum -= 4;
      printf("six %d\n", sum);
      break;
    case 7:
      sum = a / 3;
      break;
    default:
      sum = -1;
      break;
  }
  return sum * 2 + a;
}

// A switch in the part that was moved away, some of whose cases go back.
__attribute__((noinline)) static int backwards(int kind, int a) {
  int sum = a;
  if (__builtin_expect(kind >= 0, 0)) {
    rare(kind, "backwards");
    switch (kind) {
      case 0:
        goto on;
      case 1:
        sum = rare(a, "first");
        break;
      case 2:
        sum = a * 7;
        goto middle;
      case 3:
        sum = rare(a * 2, "third");
        break;
      case 4:
        sum = 5;
        goto on;
      case 5:
        sum = rare(a * 4, "fifth");
        goto middle;
      default:
        sum = 1;
        break;
    }
    return rare(sum, "out");
  }
  printf("usual %d\n", a);
middle:
  sum += 3;
  printf("middle %d\n", sum);
on:
  printf("on %d\n", sum);
  return sum + 1;
}

// An interpreter that keeps the addresses of its labels with its operations, in memory alone.
struct Operation {
  const void* label;
  int value;
};

__attribute__((noinline)) static int interpret(const int* source, int length, int start) {
  static const void* const kLabels[] = {&&add, &&multiply, &&odd, &&print, &&stop};
  struct Operation* code = calloc((size_t)length, sizeof *code);
  for (int i = 0; i < length; ++i) {
    code[i].label = kLabels[source[2 * i]];
    code[i].value = source[2 * i + 1];
  }
  const struct Operation* at = code;
  int sum = start;
  goto * at->label;
add:
  sum += at->value;
  ++at;
  goto * at->label;
multiply:
  sum *= at->value;
  ++at;
  goto * at->label;
odd:
  sum = rare(sum, "odd") ^ at->value;
  ++at;
  goto * at->label;
print:
  printf("%d of %d\n", sum, at->value);
  ++at;
  goto * at->label;
stop:
  free(code);
  return sum;
}

// Its last block is one that is never reached, so it lies behind everything and is empty.
__attribute__((noinline)) static const char* gaps(int kind) {
  switch (kind) {
    case 0:
      return puts("no gap") < 0 ? "a" : "b";
    case 2:
      return puts("two") < 0 ? "c" : "d";
    case 3:
      return puts("three") < 0 ? "e" : "f";
    case 5:
      return puts("five") < 0 ? "g" : "h";
    case 9:
      return puts("nine") < 0 ? "i" : "j";
    case 11:
      return puts("eleven") < 0 ? "k" : "l";
    default:
      __builtin_unreachable();
  }
}

int main(void) {
  for (int i = 0; i < 9; ++i) printf("%d: %d\n", i, cases(i, 20 + i));
  for (int i = -1; i < 7; ++i) printf("%d: %d\n", i, backwards(i, 5 * i));
  const int source[] = {0, 4, 3, 1, 1, 6, 2, 9, 3, 2, 2, 1, 0, 7, 1, 2, 3, 3, 4, 0};
  printf("%d\n", interpret(source, 10, 3));
  const int kinds[] = {0, 2, 3, 5, 9, 11};
  for (int i = 0; i < 6; ++i) printf("%s\n", gaps(kinds[i]));
  return 0;
}
