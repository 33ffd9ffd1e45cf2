// Crashes: the stack overflows.
#include <stdio.h>

struct Item {
  int kind;
  struct Item* inner;
};

static int measure(const struct Item* item, int depth) {
  volatile char room[16000];
  room[depth % 16000] = (char)item->kind;
  if (item->inner == NULL) return depth;
  return measure(item->inner, depth + 1) + room[depth % 16000];
}

// On a stack that is aligned widely, so that how far it reaches does not depend on what the environment
// takes.
static int measureAligned(const struct Item* item) {
  int depth = 0, result;
  register int (*function)(const struct Item*, int) __asm__("r12") = measure;
  __asm__ volatile("mov %%rsp, %%rbx\n\tand $-65536, %%rsp\n\tcall *%%r12\n\tmov %%rbx, %%rsp"
                   : "=a"(result), "+D"(item), "+S"(depth)
                   : "r"(function)
                   : "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
  return result;
}

int main(void) {
  struct Item last = {1, NULL}, loop = {2, &last};
  printf("%d\n", measure(&loop, 0));
  fflush(stdout);
  loop.inner = &loop;
  printf("%d\n", measureAligned(&loop));
  return 0;
}
