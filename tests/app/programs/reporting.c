// Reports its own fault at length, as servers do, and ends by another signal, or by the same one again.
#include <signal.h>
#include <stdlib.h>

static volatile int lines, rounds;

static void report(int number) {
  for (int i = 0; i < rounds; ++i)
    if (i % 3 != 0) lines += i % 7;
  if (lines % 2 == 7) return;
  signal(number, SIG_DFL);
  if (rounds % 2 == 0) abort();
  raise(number);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  rounds = atoi(argv[1]);
  signal(SIGSEGV, report);
  *(volatile int*)8 = 1;  // the fault
  return lines;
}
