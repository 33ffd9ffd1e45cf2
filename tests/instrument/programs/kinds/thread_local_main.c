#include <stdio.h>

long mixes(long a, long b, long c, long d, long e, long f);
long passes(long a, long b, long c, long d, long e, long f);

long consume(long a, long b, long c, long d, long e, long f) {
  return a * 3 + b * 5 + c * 7 + d * 9 + e * 11 + f * 13;
}

int main(void) {
  for (long i = 0; i < 20; ++i)
    printf("%ld %ld\n", mixes(i, i + 1, i * 2, i ^ 5, i + 9, i * 7),
           passes(i, i * 3, i + 4, i, i ^ 9, i - 1));
}
