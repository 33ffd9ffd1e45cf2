// Says how it was started, then ends as its last argument wants.
#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

// As whoever brings a runtime of his own finds it (Go): in the auxiliary vector, behind the environment. 0 if
// that seems to be empty: then such a runtime asks the kernel. 1 if it has no such entry, and that ends the
// program.
static unsigned long page_size(char** behind_arguments) {
  while (*behind_arguments) ++behind_arguments;
  const unsigned long* const first = (const unsigned long*)(behind_arguments + 1);
  const unsigned long* pair = first;
  for (; pair[0] != AT_NULL; pair += 2)
    if (pair[0] == AT_PAGESZ) return pair[1];
  return pair != first;
}

#ifdef SANITIZER_START
void SANITIZER_START(void) {}  // by which a program shows that it has one linked in
#endif

int main(int argc, char** argv) {
  char name[17] = "";
  prctl(PR_GET_NAME, name);
  printf("pid=%d name=%s preload=%s\n", (int)getpid(), name,
         getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "none");
  for (int i = 0; i < argc; ++i) printf("%d=%s\n", i, argv[i]);
  if (argc > 1 && strcmp(argv[1], "auxv") == 0) printf("page=%lu\n", page_size(argv + argc + 1));
  fflush(stdout);
  const char* last = argv[argc - 1];
  if (strcmp(last, "kill") == 0) raise(SIGKILL);
  return strncmp(last, "exit", 4) == 0 ? atoi(last + 4) : 0;
}
