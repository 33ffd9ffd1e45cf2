// Has a malloc of its own, which is ready once the program's constructors have run.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"

static int ready;
static char pool[1 << 20];
static size_t used;

void* malloc(size_t size) {
  if (!ready) abort();
  void* memory = pool + used;
  used += (size + 31) & ~(size_t)15;
  return memory;
}
void free(void* memory) {
  (void)memory;
  if (!ready) abort();
}
void* calloc(size_t count, size_t size) { return malloc(count * size); }
void* realloc(void* memory, size_t size) {
  void* larger = malloc(size);
  if (memory != NULL) memcpy(larger, memory, size);
  return larger;
}
__attribute__((constructor)) static void makeReady(void) { ready = 1; }

int main(void) {
  static volatile uint64_t counter;
  count(&counter, 3);
  char* text = malloc(10);
  strcpy(text, "ready");
  puts(text);
  return 3;
}
