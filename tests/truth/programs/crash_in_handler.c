// Crashes: a signal handler faults itself.
#include <signal.h>
#include <stdio.h>
#include <string.h>

static volatile int* where;
static volatile int here = 5;

static void note(int round) {
  if (round % 2 != 0) return;
  *where += round;
}

static void onSignal(int signal) {
  for (int i = 0; i < 4; ++i) note(i + signal);
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = onSignal;
  sigaction(SIGUSR1, &action, NULL);
  where = &here;
  raise(SIGUSR1);
  printf("%d\n", here);
  fflush(stdout);
  where = NULL;
  raise(SIGUSR1);
  printf("%d\n", here);
  return 0;
}
