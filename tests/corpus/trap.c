// Preloaded where poisoned copies run: when a breakpoint is met, its file and link-time address are appended
// to the file CORPUS_TRAPS (a macro), and the program ends as it would have ended.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>

static void onTrap(int number, siginfo_t* info, void* context) {
  (void)info;
  const unsigned long at = (unsigned long)((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP] - 1;
  Dl_info found;
  struct link_map* map = NULL;
  char line[4200];
  if (dladdr1((void*)at, &found, (void**)&map, RTLD_DL_LINKMAP) == 0) map = NULL;
  char path[4096];
  const char* name = map == NULL ? "?" : map->l_name;
  if (*name == 0) {
    const ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    path[size > 0 ? size : 0] = 0;
    name = path;
  }
  const int size = snprintf(line, sizeof line, "%s %#lx\n", name, map == NULL ? at : at - map->l_addr);
  const int out = open(CORPUS_TRAPS, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (out >= 0) {
    (void)!write(out, line, (size_t)size);
    close(out);
  }
  signal(number, SIG_DFL);
  raise(number);
}

__attribute__((constructor)) static void start(void) {
  struct sigaction action = {.sa_sigaction = onTrap, .sa_flags = SA_SIGINFO | SA_NODEFER};
  sigaction(SIGTRAP, &action, NULL);
}
