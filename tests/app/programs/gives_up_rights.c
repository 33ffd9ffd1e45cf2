// A server of root's: forks sessions that are another user's from the start on, as the first argument says
// how they end, and so many as the second says. With "in own memory" first it executes what follows where
// /dev/shm is nobody else's.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kServer = 65534, kSession = 65533 };

static int work(int rounds) {
  int sum = 0;
  for (int i = 0; i < rounds; ++i) sum += i % 7;
  return sum;
}

static void session(const char* how) {
  work(1000);
  if (!strcmp(how, "as another")) {
    if (seteuid(0) || setuid(kSession)) _exit(9);
    work(1000);
    exit(0);
  }
  if (!strcmp(how, "at a fault")) raise(SIGSEGV);
  if (!strcmp(how, "killed")) raise(SIGKILL);
  pause();
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* how = argv[1];
  if (!strcmp(how, "in own memory")) {
    if (!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
        !mount("none", "/dev/shm", "tmpfs", 0, "mode=1777"))
      execvp(argv[2], argv + 2);
    return 77;
  }
  if (seteuid(kServer)) return 77;
  int endings = 0;
  for (int i = atoi(argv[2]); i > 0; --i) {
    const pid_t child = fork();
    if (child == 0) session(how);
    if (argc > 3) {  // what to do while it lives
      char number[16];
      snprintf(number, sizeof number, "%d", (int)child);
      setenv("SESSION", number, 1);
      if (seteuid(0)) return 77;
      usleep(200000);
      if (system(argv[3]) != 0) return 3;
      kill(child, SIGTERM);
      if (seteuid(kServer)) return 77;
    }
    int status = 0;
    waitpid(child, &status, 0);
    endings += WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
  }
  printf("%d\n", endings);
  return 0;
}
