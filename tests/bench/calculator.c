// Something to record with line information: evaluates the same expression over and over, then aborts.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static const char* at;

static long sum(void);

static long factor(void) {
  while (*at == ' ') ++at;
  if (*at == '(') {
    ++at;
    long value = sum();
    if (*at == ')') ++at;
    return value;
  }
  if (*at == '-') {
    ++at;
    return -factor();
  }
  long value = 0;
  while (isdigit((unsigned char)*at)) value = value * 10 + (*at++ - '0');
  while (*at == ' ') ++at;
  return value;
}

static long product(void) {
  long value = factor();
  for (;;) {
    if (*at == '*') {
      ++at;
      value *= factor();
    } else if (*at == '%') {
      ++at;
      long by = factor();
      value = by != 0 ? value % by : 0;
    } else {
      return value;
    }
  }
}

static long sum(void) {
  long value = product();
  for (;;) {
    switch (*at) {
      case '+':
        ++at;
        value += product();
        break;
      case '-':
        ++at;
        value -= product();
        break;
      default:
        return value;
    }
  }
}

int main(int argc, char** argv) {
  long rounds = argc > 1 ? atol(argv[1]) : 1000;
  unsigned long total = 0;
  for (long i = 0; i < rounds; ++i) {
    at = "(1 + 2 * 3 - (4 % 3) * -7 + ((8 - 1) * (2 + 2))) * 5 % 1000 + 12 * (3 - 1)";
    total = total * 31 + (unsigned long)sum();
  }
  printf("%lu\n", total);
  fflush(stdout);
  abort();
}
