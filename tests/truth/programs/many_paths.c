// One big function with many branches that meet again: thousands of paths, most of them taken once.
#include <stdio.h>

static unsigned paths(unsigned x) {
  unsigned y = 1;
  if (x & 1)
    y += x;
  else
    y ^= 3;
  if (x & 2) y *= 3;
  if (x & 4) {
    y -= 7;
    if (y & 8)
      y ^= 0x55;
    else
      y += 2;
  }
  if ((x & 8) && y > 10)
    y /= 2;
  else if (y & 1)
    y += 11;
  if (x % 3 == 0 || y % 5 == 0) y ^= x << 2;
  if (y > 100) {
    if (y > 1000) {
      if (y > 10000)
        y %= 997;
      else
        y -= 999;
    } else
      y -= 99;
  }
  for (unsigned i = 0; i < (x & 3); ++i) {
    if (y & 2)
      y += i;
    else
      y -= i;
    if (y == 0) break;
  }
  y = x & 16 ? y + 1 : y - 1;
  y = x & 32 ? (y & 64 ? y * 5 : y + 5) : y;
  switch (y & 7) {
    case 0:
      y += 1;
      break;
    case 1:
      y = y & 32 ? y >> 1 : y << 1;
      break;
    case 2:
      if (x & 64) return y;
      break;
    case 3:
      y ^= 0xFF; /* fall through */
    case 4:
      y += 4;
      break;
    case 5:
      while (y & 1) y >>= 1;
      break;
    default:
      if (x & 128) {
        y = ~y;
        if (y & 256) y &= 0xFFFF;
      }
  }
  if (x & 256 ? y & 1 : y & 2) y += 100;
  if (x & 512) {
    if (y & 4) {
      if (y & 8) {
        if (y & 16)
          y = 1;
        else
          y = 2;
      } else
        y = 3;
    } else
      y = 4;
  }
  return y ^ (x >> 3);
}

int main(void) {
  unsigned total = 0;
  for (unsigned x = 0; x < 350; ++x) total = total * 31 + paths(x * 2654435761u >> 20);
  printf("%u\n", total);
  return 0;
}
