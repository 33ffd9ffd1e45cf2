// Crashes: calls through a null function pointer.
#include <stdio.h>

typedef int (*Command)(int);
static int twice(int x) { return 2 * x; }
static int next(int x) { return x + 1; }

static const struct {
  char key;
  Command run;
} commands[] = {{'t', twice}, {'n', next}, {'q', NULL}};

static int execute(const char* script) {
  int value = 1;
  for (; *script != '\0'; ++script)
    for (unsigned i = 0; i < sizeof commands / sizeof commands[0]; ++i)
      if (commands[i].key == *script) value = commands[i].run(value);
  return value;
}

int main(void) {
  printf("%d\n", execute("tntnt"));
  fflush(stdout);
  printf("%d\n", execute("ttnqt"));
  return 0;
}
