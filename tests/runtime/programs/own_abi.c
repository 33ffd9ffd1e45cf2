// A C++ library whose names have no versions, as libc++abi's have none.
#include <stdio.h>
#include <stdlib.h>

void __cxa_throw(void* object, void* type, void (*destructor)(void*)) {
  (void)type;
  (void)destructor;
  printf("thrown %d\n", *(int*)object);
  exit(3);
}
