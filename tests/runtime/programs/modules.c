// Several modules, some loaded late. The program has one of its own; the libraries are given as arguments,
// each to be loaded, used, and with a '-' before its name unloaded again; a number before them all says how
// often.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "module.h"

typedef void (*Counter)(volatile uint64_t*, uint64_t);
typedef void (*Store)(int*);

static volatile uint64_t counter;

#ifdef BIG_TLS
static _Thread_local char big[5000];

static int isClean(void) {
  for (size_t i = 0; i < sizeof big; ++i)
    if (big[i]) return 0;
  return 1;
}
#endif

int main(int argc, char** argv) {
#ifdef BIG_TLS
  if (!isClean()) return 9;
  const pid_t child = fork();
  if (child == 0) _exit(isClean() ? 0 : 1);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return 8;
  big[argc] = 1;
#endif
  count(&counter, 10);
  const int times = argc > 1 ? atoi(argv[1]) : 0, first = times > 0 ? 2 : 1, all = argc - first;
  for (int n = 0; n < all * (times > 0 ? times : 1); ++n) {
    const int i = first + n % all;
    const int close = argv[i][0] == '-';
    void* library = dlopen(argv[i] + close, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      printf("%s\n", dlerror());
      continue;
    }
    Counter other = (Counter)dlsym(library, "count");
    if (!other) return 8;
    other(&counter, 10);
    if (close) dlclose(library);
  }
  count(&counter, 10);
  printf("%lu\n", (unsigned long)counter);
  printf("missing: %d\n", dlsym(RTLD_DEFAULT, "no_such_function") != NULL);
  printf("%s\n", dlerror() ? "error" : "none");
  fflush(stdout);
  kill(getpid(), SIGKILL);
}
