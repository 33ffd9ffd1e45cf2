// A request's name is copied into a buffer that is too small: the function returns to nowhere.
#include <stdio.h>
#include <string.h>

__attribute__((noinline)) static void copyName(char* to, const char* from) {
  while (*from != 0) *to++ = *from++;  // the smash
  *to = 0;
}

__attribute__((noinline)) static int parse(const char* line) {
  char name[16];
  copyName(name, line);
  return (int)strlen(name);
}

__attribute__((noinline)) static int serve(const char* line) {
  const int length = parse(line);  // the call
  printf("served %d\n", length);
  return length;
}

int main(void) {
  char line[300];
  memset(line, 'A', sizeof line - 1);
  line[sizeof line - 1] = 0;
  serve("short");
  serve(line);
  return 0;
}
