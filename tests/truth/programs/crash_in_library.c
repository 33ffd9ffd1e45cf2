// Crashes: within the C library, which was given a null string.
#include <stdio.h>
#include <string.h>

struct Entry {
  const char* name;
  const char* value;
};

static unsigned long longest(const struct Entry* entries, int count) {
  unsigned long best = 0;
  for (int i = 0; i < count; ++i) {
    unsigned long n = strlen(entries[i].name) + strlen(entries[i].value);
    if (n > best) best = n;
  }
  return best;
}

int main(void) {
  struct Entry entries[] = {{"path", "/usr/bin"}, {"shell", "/bin/sh"}, {"editor", NULL}, {"term", "xterm"}};
  printf("%lu\n", longest(entries, 2));
  fflush(stdout);
  printf("%lu\n", longest(entries, 4));
  return 0;
}
