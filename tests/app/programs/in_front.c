// A library that is preloaded, stands in front of libc's sigaction, and puts a handler of its own before the
// program's. It stands in front of dl_iterate_phdr, too, as fakechroot does.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>

static int act(int number, const struct sigaction* next, struct sigaction* previous) {
  static int (*libcs)(int, const struct sigaction*, struct sigaction*);
  if (libcs == NULL) *(void**)&libcs = dlsym(RTLD_NEXT, "sigaction");
  return libcs(number, next, previous);
}

int dl_iterate_phdr(int (*visit)(struct dl_phdr_info*, size_t, void*), void* data) {
  static int (*libcs)(int (*)(struct dl_phdr_info*, size_t, void*), void*);
  if (libcs == NULL) *(void**)&libcs = dlsym(RTLD_NEXT, "dl_iterate_phdr");
  return libcs(visit, data);
}

int sigaction(int number, const struct sigaction* next, struct sigaction* previous) {
  if (number == SIGUSR1) puts("sigaction, in front");
  return act(number, next, previous);
}

static struct sigaction before;
static void handle(int number, siginfo_t* info, void* context) {
  puts("handler, in front");
  before.sa_sigaction(number, info, context);
}

void handle_in_front(int number) {
  act(number, NULL, &before);
  printf("flags %x, blocked %d\n", (unsigned)before.sa_flags, sigismember(&before.sa_mask, SIGUSR2));
  struct sigaction action = before;
  action.sa_sigaction = handle;
  sigaction(number, &action, NULL);
}
