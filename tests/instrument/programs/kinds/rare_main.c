#include <stdio.h>

long strings(const char* text);
int loops(int rounds), frames(int a), flags(int a), locked(void), position(void), table(unsigned n),
    keeps_flags(int a, int b), short_two(int a), entered_again(int n), thunked(int a);
void shortest(void);

int main(void) {
  int (*volatile pointer)(int) = short_two;
  printf("%ld %d %d %d\n", strings("hello, world"), loops(5), loops(0), loops(30));
  for (int i = 0; i < 10; ++i) printf("%d %d %u\n", frames(i), flags(i * 1234567), table((unsigned)i));
  shortest();
  printf("%d %d %d %d\n", locked(), position(), keeps_flags(1, 2), keeps_flags(2, 1));
  printf("%d %d %d %d\n", short_two(5), pointer(6), entered_again(9), thunked(20));
  return 3;
}
