// Handlers that never return: they jump out of a fault, again and again, from several depths.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static sigjmp_buf back;
static volatile int faults;

static void onFault(int signal) {
  ++faults;
  siglongjmp(back, signal);
}

static int readThrough(const int* const* table, int i) {
  int value = i;
  for (int k = 0; k <= i; ++k) value += *table[k];
  return value;
}

static int dig(int depth, const int* const* table) {
  volatile int local = depth;
  if (depth == 0) return readThrough(table, 3);
  return dig(depth - 1, table) + local;
}

static int checked(int what) {
  static const int one = 1;
  static const int* good[] = {&one, &one, &one, &one};
  static const int* bad[] = {&one, &one, 0, &one};
  int signal = sigsetjmp(back, 1);
  if (signal != 0) return -signal;
  switch (what) {
    case 0:
      return dig(3, good);
    case 1:
      return dig(5, bad);
    case 2:
      raise(SIGFPE);
      return 0;
    default:
      return readThrough(bad, what - 3);
  }
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = onFault;
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGFPE, &action, NULL);
  for (int what = 0; what < 7; ++what) printf("%d: %d\n", what, checked(what));
  printf("faults: %d\n", (int)faults);
  return 0;
}
