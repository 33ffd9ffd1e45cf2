// Arithmetic on flags: carries, rotations, comparisons of every sign, conditional moves, loops on counts.
#include <stdint.h>
#include <stdio.h>

static unsigned __int128 multiplyWide(uint64_t a, uint64_t b) { return (unsigned __int128)a * b; }

static uint64_t modularPower(uint64_t base, unsigned exponent, uint64_t modulus) {
  uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result = (uint64_t)(multiplyWide(result, base) % modulus);
    base = (uint64_t)(multiplyWide(base, base) % modulus);
  }
  return result;
}

static int addOverflows(int a, int b, int* sum) {
  if (__builtin_add_overflow(a, b, sum)) return 1;
  return 0;
}

static uint32_t crc(const unsigned char* bytes, int n) {
  uint32_t value = ~0u;
  for (int i = 0; i < n; ++i) {
    value ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) value = value & 1 ? (value >> 1) ^ 0xEDB88320u : value >> 1;
  }
  return ~value;
}

static int sign(int64_t a, uint64_t b) {
  if (a < 0) return -1;
  if ((uint64_t)a < b) return -2;
  if ((int64_t)b < 0 && a > 5) return 2;
  return a == 0 ? 0 : 1;
}

struct Packed {
  unsigned a : 3, b : 7, c : 1;
  int d : 5;
};

int main(void) {
  printf("%lu\n", (unsigned long)modularPower(1234567, 65537, 1000000007));
  int sum = 0, overflows = 0;
  for (int i = 0; i < 40; ++i) overflows += addOverflows(sum, i % 20 * 100000000, &sum);
  printf("%d, %d overflows\n", sum, overflows);
  printf("%08x\n", crc((const unsigned char*)"123456789", 9));
  printf("%d %d %d\n", sign(-5, 1), sign(3, 9), sign(9, 3));
  struct Packed packed = {0, 0, 0, 0};
  for (int i = 0; i < 30; ++i) {
    packed.a += 3;
    packed.b = (packed.b + packed.a) & 127;
    packed.c ^= packed.b > 60;
    packed.d = (int)((unsigned)packed.d * 3 + packed.c) % 15;
  }
  printf("%u %u %u %d\n", packed.a, packed.b, packed.c, packed.d);
  return 0;
}
