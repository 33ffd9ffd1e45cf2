// A library that is preloaded, and stands in front of functions of libc's that the runtime stands in front
// of, too.
#include <stdarg.h>
#include <stdio.h>
#include <sys/types.h>

unsigned sleep(unsigned seconds) {
  printf("sleep %u, in front\n", seconds);
  return 0;
}
int setuid(uid_t user) {
  printf("setuid %s, in front\n", user == 0 ? "0" : "other");
  return 0;
}
int open(const char* path, int flags, ...) {
  (void)flags;
  printf("open %s, in front\n", path);
  return -1;
}
