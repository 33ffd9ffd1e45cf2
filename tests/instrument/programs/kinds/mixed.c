/* A bit of everything that compilers make special code for. Prints the same whatever it is compiled with. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __thread int counter = 3;
__thread long shared_counter = 5;
extern __thread int elsewhere __attribute__((weak));

static int big_switch(unsigned n) {
#define CASE(i) \
  case i:       \
    return i * 7 + 1;
#define TEN(i)                                                                                    \
  CASE(i)                                                                                         \
  CASE(i + 1)                                                                                     \
  CASE(i + 2) CASE(i + 3) CASE(i + 4) CASE(i + 5) CASE(i + 6) CASE(i + 7) CASE(i + 8) case i + 9: \
  counter += i;                                                                                   \
  return counter % 97;
#define HUNDRED(i) \
  TEN(i)           \
  TEN(i + 10) TEN(i + 20) TEN(i + 30) TEN(i + 40) TEN(i + 50) TEN(i + 60) TEN(i + 70) TEN(i + 80) TEN(i + 90)
  switch (n) { HUNDRED(0) HUNDRED(100) HUNDRED(200) HUNDRED(300) HUNDRED(400) default : abort(); }
}

static long interpret(const unsigned char* code) {
  static const void* const labels[] = {&&push, &&add, &&mul, &&jump, &&stop};
  long stack[16];
  int top = 0;
  goto* labels[*code++];
push:
  stack[top++] = *code++;
  goto* labels[*code++];
add:
  --top;
  stack[top - 1] += stack[top];
  goto* labels[*code++];
mul:
  --top;
  stack[top - 1] *= stack[top];
  goto* labels[*code++];
jump:
  code += *code + 1;
  goto* labels[*code++];
stop:
  return stack[0];
}

__attribute__((noinline, cold)) static void rare(const char* what) {
  printf("rare %s\n", what);
  shared_counter *= 2;
}

__attribute__((noinline)) static int leaf(int a) { return a * 3 + 1; }
__attribute__((noinline)) static int chain(int a, int b) {
  int sum = 0;
  for (int i = 0; i < a; ++i) {
    sum += leaf(i) ^ b;
    if (__builtin_expect(sum == -12345, 0)) rare("never");
    if (__builtin_expect(i == 17, 0)) rare("seventeen");
  }
  return sum;
}

static int plain_choice(int a) { return a + 1; }
static int (*choose(void))(int) { return plain_choice; }
int chosen(int a) __attribute__((ifunc("choose")));

static int by_value(const void* a, const void* b) {
  const int x = *(const int*)a, y = *(const int*)b;
  return (x > y) - (x < y);
}

static jmp_buf back;
__attribute__((noinline)) static void deep(int n) {
  volatile char room[64];
  room[0] = (char)n;
  if (n == 0) longjmp(back, 42);
  deep(n - 1);
  room[1] = room[0];
}

__attribute__((noinline)) static double floats(double x, int n) {
  double sum = 0;
  float f = 1.5f;
  long double l = 2.25L;
  for (int i = 1; i <= n; ++i) {
    sum += x / i;
    f = f * 1.25f - (float)i;
    l += (long double)sum / 3;
    if (f > 100) f = 1;
  }
  return sum + (double)f + (double)l;
}

__attribute__((noinline)) static size_t variable(int n) {
  char* text = __builtin_alloca((size_t)n + 1);
  memset(text, 'a' + n % 26, (size_t)n);
  text[n] = 0;
  return strlen(text);
}

__attribute__((noinline)) static int many(int a, int b, int c, int d, int e, int f, int g, int h, int i) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}
__attribute__((noinline)) static int tail(int a) { return a > 100 ? a : tail(a * 2 + 1); }

__attribute__((noinline)) static int vectors(const int* in, int* out, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) out[i] = in[i] * in[i] + 7;
  for (int i = 0; i < n; ++i) sum ^= out[i];
  return sum;
}

__attribute__((constructor)) static void early(void) { counter += leaf(2); }
__attribute__((destructor)) static void late(void) { printf("late %d\n", counter); }

int main(void) {
  static const unsigned char code[] = {0, 6, 0, 7, 2, 3, 1, 4, 0, 5, 1, 4};
  long total = 0;
  for (unsigned i = 0; i < 500; ++i) total += big_switch(i);
  printf("switch %ld\n", total);
  printf("interpret %ld\n", interpret(code));
  printf("chain %d\n", chain(40, 5));
  printf("chosen %d\n", chosen(6));
  int numbers[100], squares[100];
  for (int i = 0; i < 100; ++i) numbers[i] = (i * 37) % 101;
  qsort(numbers, 100, sizeof *numbers, by_value);
  printf("sorted %d %d %d\n", numbers[0], numbers[50], numbers[99]);
  volatile int rounds = 0;
  const int jumped = setjmp(back);
  if (jumped == 0 || rounds < 3) {
    ++rounds;
    deep(10);
  }
  printf("jumped %d %d\n", jumped, rounds);
  printf("floats %.4f\n", floats(2.5, 50));
  printf("variable %zu\n", variable(100) + variable(3000));
  printf("many %d tail %d\n", many(1, 2, 3, 4, 5, 6, 7, 8, 9), tail(3));
  printf("vectors %d\n", vectors(numbers, squares, 100));
  const __int128 wide = (__int128)total * total * 12345;
  printf("wide %llx\n", (unsigned long long)(wide >> 20));
  printf("threads %d %ld %d\n", counter, shared_counter, &elsewhere != NULL);
  return (int)(total % 100);
}
