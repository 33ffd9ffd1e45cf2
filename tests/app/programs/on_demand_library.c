// A library to be found and loaded, which faults when asked to.
#include <stddef.h>
#include <stdlib.h>

int* on_demand_nowhere = NULL;

__attribute__((constructor)) static void loaded(void) {
  if (getenv("ON_DEMAND_FAULT") != NULL) *on_demand_nowhere = 1;  // the constructor's fault
}

int on_demand_library(int value) {
  if (value < 0) return *on_demand_nowhere;  // the library's fault
  return value + 1;
}

#ifdef STORAGE_SIZE
__attribute__((aligned(STORAGE_ALIGNMENT),
               tls_model("initial-exec"))) static __thread volatile char storage[STORAGE_SIZE];

__attribute__((constructor)) static void store(void) {
  if ((size_t)storage % STORAGE_ALIGNMENT != 0) abort();
  storage[STORAGE_SIZE - 1] = 1;
}
#endif
