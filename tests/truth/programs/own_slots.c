// Its functions call each other by the procedure linkage table, as those of shared libraries do, for another
// module may have functions of these names: it is a shared library that can be started.
#include <stdio.h>

__attribute__((used, section(".interp"))) static const char kLinker[] = "/lib64/ld-linux-x86-64.so.2";

long plain(long n) { return 3 * n + 1; }

long choose(long n) {
  if (n % 3 == 0) return n + 1;
  return n > 20 ? n - 7 : 2 * n;
}

// By a jump in place of a call.
long onward(long n) {
  if (n & 1) return choose(n + 2);
  return n;
}

long deeper(long n) {
  long sum = plain(n);
  if (sum & 2) sum += onward(n);
  return sum + choose(sum);
}

// Back to where the record may be.
long again(long n) { return n <= 0 ? 0 : n + again(n - 1) + plain(n); }

// With a value on both sides of the call in each register that callees keep.
long across(long n, long a, long b, long c, long d, long e) {
  const long f = a * b, g = c * d, h = e - a;
  const long first = choose(n);
  return first + plain(first + f) + f + g * 2 + h * 3 + a + b + c + d + e;
}

int main(void) {
  for (long round = 0; round < 2; ++round) {
    for (long n = 0; n < 40; ++n) printf("%ld ", deeper(n) + onward(n) + across(n, 1, 2, 3, 4, 5));
    printf("%ld\n", again(7));
  }
  return 0;
}
