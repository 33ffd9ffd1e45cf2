// libunwind walks the stack, step by step, from a function and from a signal's handler.
#define UNW_LOCAL_ONLY
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libunwind.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

// By libc, for libunwind looks for names where programs have code in one piece only.
static void showName(unw_cursor_t* cursor) {
  unw_word_t ip = 0;
  unw_get_reg(cursor, UNW_REG_IP, &ip);
  Dl_info info;
  int known = dladdr((void*)ip, &info);
  printf("  %s%s\n", known && info.dli_sname ? info.dli_sname : "?",
         unw_is_signal_frame(cursor) > 0 ? ", a signal's" : "");
}

__attribute__((noinline)) int walk(unw_context_t* context, int flags) {
  unw_cursor_t cursor;
  int steps = 0;
  if (unw_init_local2(&cursor, context, flags) != 0) return -1;
  do {
    showName(&cursor);
    ++steps;
  } while (unw_step(&cursor) > 0);
  return steps;
}

__attribute__((noinline)) int walkFromHere(void) {
  unw_context_t context;
  unw_getcontext(&context);
  return walk(&context, 0);
}

void onSignal(int signal, siginfo_t* info, void* data) {
  (void)info;
  printf("signal %d\n", signal);
  printf("%d steps\n", walkFromHere());
  printf("%d steps from what was interrupted\n", walk((unw_context_t*)data, UNW_INIT_SIGNAL_FRAME));
}

__attribute__((noinline)) int deeper(int n) {
  if (n == 0) return walkFromHere();
  if (n == 7) return raise(SIGUSR1);
  return deeper(n - (n > 7 ? 3 : 1)) + 1;
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = onSignal;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR1, &action, 0);
  for (int n = 0; n < 5; ++n) printf("%d\n", deeper(n));
  printf("%d\n", deeper(13));
  return 0;
}
