// Loads a library (own_slots) and calls into it, then ends by a signal.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  void* const library = argc > 1 ? dlopen(argv[1], RTLD_LAZY) : NULL;
  if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), 2;
  long (*const deeper)(long) = (long (*)(long))dlsym(library, "deeper");
  if (deeper == NULL) return 2;
  for (long n = 0; n < 12; ++n) printf("%ld ", deeper(n));
  printf("\n");
  fflush(stdout);
  abort();
}
