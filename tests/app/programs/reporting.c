// Meets a fault, reports it itself at length, as servers do, and ends in one of several ways:
//   reporting LINES ENDING [FAULT]
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int without_lines(int rounds);  // of a library without debug information

static volatile int lines, rounds;
static const char* ending;
static sigjmp_buf start;

static int ends(const char* how) { return strcmp(ending, how) == 0; }

// A program that reports more, whose end means nothing.
static void startOther(void) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, 0, 0);
}

static void look(int number) {
  (void)number;
  siglongjmp(start, 1);
}

// At memory that may not be there.
static void lookAround(void) {
  signal(SIGSEGV, look);
  sigset_t fault;
  sigemptyset(&fault);
  sigaddset(&fault, SIGSEGV);
  sigprocmask(SIG_UNBLOCK, &fault, 0);
  if (sigsetjmp(start, 1) == 0) *(volatile int*)16 = 1;
}

static void report(int number) {
  for (int i = 0; i < rounds; ++i)
    if (i % 3 != 0) lines += i % 7;
  if (lines % 2 == 7) return;
  if (ends("jump")) siglongjmp(start, 1);
  if (ends("_exit after looking around")) lookAround();
  if (ends("_exit")) startOther();
  if (strncmp(ending, "_exit", 5) == 0) _exit(3);
  if (ends("kill")) kill(getpid(), SIGKILL);
  if (ends("exit")) exit(4);
  if (ends("quick_exit")) quick_exit(5);
  signal(number, SIG_DFL);
  if (ends("return")) return;
  if (ends("abort")) abort();
  raise(number);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  rounds = atoi(argv[1]);
  ending = argv[2];
  lines = without_lines(rounds);
  signal(SIGSEGV, report);
  signal(SIGABRT, report);
  if (sigsetjmp(start, 1) != 0) exit(6);
  if (argc > 3 && strcmp(argv[3], "abort") == 0) abort();  // the fault of its own
  if (argc > 3 && strcmp(argv[3], "sent") == 0) {
    if (fork() == 0) _exit(kill(getppid(), SIGSEGV));
    pause();
  }
  *(volatile int*)8 = 1;  // the fault
  return lines;
}
