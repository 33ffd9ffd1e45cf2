// Says how it was started, then ends as its last argument wants.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char** argv) {
  char name[17] = "";
  prctl(PR_GET_NAME, name);
  printf("pid=%d name=%s preload=%s\n", (int)getpid(), name,
         getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "none");
  for (int i = 0; i < argc; ++i) printf("%d=%s\n", i, argv[i]);
  fflush(stdout);
  const char* last = argv[argc - 1];
  if (strcmp(last, "kill") == 0) raise(SIGKILL);
  return strncmp(last, "exit", 4) == 0 ? atoi(last + 4) : 0;
}
