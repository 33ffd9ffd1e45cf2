// Floating point and vectors: conditions of unordered values, conversions, loops that are vectorised.
#include <math.h>
#include <stdio.h>

static float values[64];

static int kinds(double x) {
  if (isnan(x)) return 0;
  if (x != x + 0.0) return 1;
  if (x < 0) return x < -1e9 ? 2 : 3;
  return x > 1e9 ? 4 : 5;
}

static double root(double x) {
  double guess = x / 2;
  for (int i = 0; i < 60; ++i) {
    double better = (guess + x / guess) / 2;
    if (fabs(better - guess) < 1e-12) return better;
    guess = better;
  }
  return guess;
}

static float dot(const float* a, const float* b, int n) {
  float total = 0;
  for (int i = 0; i < n; ++i) total += a[i] * b[i];
  return total;
}

static unsigned sumBytes(const unsigned char* bytes, int n) {
  unsigned total = 0;
  for (int i = 0; i < n; ++i) total += bytes[i];
  return total;
}

int main(void) {
  for (int i = 0; i < 64; ++i) values[i] = (float)i * 0.5f - 8.0f;
  unsigned char bytes[100];
  for (int i = 0; i < 100; ++i) bytes[i] = (unsigned char)(i * i);
  volatile double zero = 0;
  const double tests[] = {0.0, -1.0, -1e10, 1e10, zero / zero, 1 / zero};
  for (unsigned i = 0; i < 6; ++i) printf("%d ", kinds(tests[i]));
  printf("\n%.6f %.6f\n", root(2), root(1e6));
  printf("%.3f %u\n", (double)dot(values, values + 3, 61), sumBytes(bytes, 99));
  long whole = 0;
  for (int i = 0; i < 64; ++i) whole += lrintf(values[i] * 1.7f);
  printf("%ld\n", whole);
  return 0;
}
