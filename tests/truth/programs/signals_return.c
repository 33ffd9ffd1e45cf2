// Handlers that return: of signals that the program sends itself, nested ones, and one that steps over a
// fault.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

static volatile sig_atomic_t seen[65];
static volatile int depth;

static int weigh(int signal) {
  int weight = 0;
  for (int i = 0; i < signal; ++i) weight += i & 1 ? 2 : 1;
  return weight;
}

static void onSignal(int signal) {
  seen[signal] += weigh(signal);
  if (signal == SIGUSR1 && depth < 3) {
    ++depth;
    raise(SIGUSR2);
    --depth;
  }
}

// Division by zero: the divisor is in a register that the handler may change.
static void onFault(int signal, siginfo_t* info, void* context) {
  ucontext_t* user = context;
  seen[signal] += info->si_code == FPE_INTDIV ? 1 : 100;
  user->uc_mcontext.gregs[REG_RCX] = 3;
}

static int divide(int a, int b) {
  int quotient, rest;
  __asm__ volatile("cltd\n\tidivl %%ecx" : "=a"(quotient), "=d"(rest) : "a"(a), "c"(b));
  return quotient + rest;
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = onSignal;
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGUSR2, &action, NULL);
  signal(SIGTERM, onSignal);
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGFPE, &action, NULL);

  int total = 0;
  for (int i = 0; i < 5; ++i) {
    raise(SIGUSR1);
    if (i == 2) raise(SIGTERM);
    total += divide(100 + i, i % 2);
  }
  printf("usr1 %d, usr2 %d, term %d, fpe %d, total %d\n", (int)seen[SIGUSR1], (int)seen[SIGUSR2],
         (int)seen[SIGTERM], (int)seen[SIGFPE], total);
  return 0;
}
