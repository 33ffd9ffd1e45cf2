// Does what a sanitizer reports, instrumented by it: "undefined", "memory" or "leak".
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"

static volatile uint64_t counter;
static volatile int number;
static void* volatile lost;

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  count(&counter, 10);
  printf("%d\n", (int)counter);
  fflush(stdout);
  if (!strcmp(argv[1], "undefined")) {
    for (int i = 0; i < 3; ++i) {
      number = 0x7FFFFFFF;
      number = number + argc;  // the same one each time
    }
    volatile int shift = 40;
    number = 1 << shift;
  }
  if (!strcmp(argv[1], "memory")) {
    volatile char* bytes = malloc(8);
    volatile int past = 8;
    number = bytes[past];
    free((void*)bytes);
  }
  if (!strcmp(argv[1], "leak")) {
    lost = malloc(123);
    lost = NULL;
  }
  count(&counter, 10);
  printf("%d\n", (int)counter);
  return 3;
}
