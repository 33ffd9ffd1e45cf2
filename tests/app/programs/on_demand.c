// Does what `traceback run` has to see through, and says what it sees itself.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

extern char** environ;
int on_demand_library(int value);
__attribute__((weak)) void handle_in_front(int number);  // of a preloaded library

// As who looks for names in the file itself has them.
extern const char __executable_start[], etext[];
static _Unwind_Reason_Code printFrame(struct _Unwind_Context* frame, void* count) {
  int interrupted = 0;
  const char* const address = (const char*)_Unwind_GetIPInfo(frame, &interrupted);
  if (address >= __executable_start && address < etext)
    printf("frame at %#lx, interrupted %d\n", (unsigned long)(address - __executable_start), interrupted);
  ++*(int*)count;
  return _URC_NO_REASON;
}
__attribute__((noinline)) static void unwind(int number) {
  int count = 0;
  const int result = _Unwind_Backtrace(printFrame, &count);
  printf("%d frames at %d, result %d\n", count, number, result);
}
static void unwindFromHandler(void) {
  unwind(0);
  signal(SIGUSR1, unwind);
  raise(SIGUSR1);
}

// As the kernel tells it.
static void printMaps(void) {
  char part[8192];
  const long maps = syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY);
  for (long size; (size = syscall(SYS_read, maps, part, sizeof part)) > 0;) fwrite(part, 1, size, stdout);
  syscall(SYS_close, maps);
}

// The names alone, as libc tells it; the runtime itself is no secret.
static void printMappedNames(FILE* maps) {
  char line[8192], last[8192] = "";
  while (fgets(line, sizeof line, maps) != NULL) {
    char* name = strchr(line, '/');
    if (name == NULL || strcmp(name, last) == 0 || strstr(line, "r-x") == NULL) continue;
    strcpy(last, name);
    if (strstr(name, "libtraceback") == NULL) printf("mapped=%s", name);
  }
  fclose(maps);
}

static void printDescriptors(void) {
  for (int i = 0; i < 20; ++i)
    if (fcntl(i, F_GETFD) >= 0) printf("descriptor=%d\n", i);
}

static void printMappedFiles(void) {
  char own[64];
  snprintf(own, sizeof own, "/proc/%d/maps", (int)getpid());
  printMappedNames(fopen("/proc/self/maps", "re"));
  printMappedNames(fopen("/proc/thread-self/maps", "r"));
  printMappedNames(fdopen(open(own, O_RDONLY | O_CLOEXEC), "r"));
  printMappedNames(fdopen(openat(AT_FDCWD, "/proc/self/maps", O_RDONLY), "r"));
  // With one descriptor left.
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  const int next = dup(0);
  close(next);
  limit.rlim_cur = (rlim_t)next + 1;
  setrlimit(RLIMIT_NOFILE, &limit);
  const int last = open("/proc/self/maps", O_RDONLY);
  printf("last=%d\n", last >= 0);
  close(last);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  printf("written=%d\n", open("/proc/self/maps", O_RDWR) >= 0);
  printDescriptors();
}

static int printObject(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size, (void)data;
  // The runtime itself is no secret.
  if (strstr(info->dlpi_name, "libtraceback") == NULL) printf("object=%s\n", info->dlpi_name);
  return 0;
}

static void printNames(char** argv) {
  char text[4096] = "", name[17] = "";
  Dl_info info;
  const ssize_t size = readlink("/proc/self/exe", text, sizeof text - 1);
  printf("exe=%s size=%zd\n", text, size);
  char few[6] = "";
  printf("few=%zd ", readlink("/proc/self/exe", few, 5));
  printf("%s\n", few);
  snprintf(text, sizeof text, "/proc/%d/exe", (int)getpid());
  char* real = realpath(text, NULL);
  printf("real=%s\n", real);
  free(real);
  real = canonicalize_file_name("/proc/self/exe");
  printf("canonical=%s\n", real);
  free(real);
  struct stat status;
  const int file = open("/proc/self/exe", O_RDONLY);
  fstat(file, &status);
  close(file);
  printf("inode=%lu\n", (unsigned long)status.st_ino);
  printf("execfn=%s argv0=%s invoked=%s\n", (const char*)getauxval(AT_EXECFN), argv[0],
         program_invocation_name);
  prctl(PR_GET_NAME, name);
  printf("name=%s\n", name);
  dladdr((void*)printNames, &info);
  printf("dladdr=%s\n", info.dli_fname);
  dladdr((void*)on_demand_library, &info);
  printf("library=%s\n", info.dli_fname);
  void* handle = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (handle != NULL && dlinfo(handle, RTLD_DI_ORIGIN, text) == 0) printf("origin=%s\n", text);
  dl_iterate_phdr(printObject, NULL);
  printDescriptors();
  sigset_t mask;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  printf("umask=%o blocked=%d%d\n", (unsigned)umask(0), sigismember(&mask, SIGINT),
         sigismember(&mask, SIGCHLD));
}

static int statusOf(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int startChild(const char* how, char** words) {
  char line[4096] = "";
  for (char** word = words; *word != NULL; ++word) {
    strcat(line, " '");
    strcat(line, *word);
    strcat(line, "'");
  }
  fflush(stdout);
  if (strcmp(how, "execve") == 0) return execve(words[0], words, environ);
  if (strcmp(how, "execvp") == 0) return execvp(words[0], words);
  if (strcmp(how, "execl") == 0) return execl(words[0], words[0], words[1], NULL);
  if (strcmp(how, "raw") == 0) return (int)syscall(SYS_execve, words[0], words, environ);
  if (strcmp(how, "bare") == 0) {
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_execve), "D"(words[0]), "S"(words), "d"(environ)
                     : "rcx", "r11", "memory");
    return (int)result;
  }
  if (strcmp(how, "rawat") == 0) return (int)syscall(SYS_execveat, AT_FDCWD, words[0], words, environ, 0);
  if (strcmp(how, "empty") == 0) {
    char* none[] = {NULL};
    return execve(words[0], words, none);
  }
  if (strcmp(how, "system") == 0) return WEXITSTATUS(system(line));
  if (strcmp(how, "popen") == 0) {
    FILE* pipe = popen(line, "r");
    for (int c; (c = fgetc(pipe)) != EOF;) putchar(c);
    return WEXITSTATUS(pclose(pipe));
  }
  pid_t child = -1;
  if (strcmp(how, "spawn") == 0) posix_spawn(&child, words[0], NULL, NULL, words, environ);
  if (strcmp(how, "spawnp") == 0) posix_spawnp(&child, words[0], NULL, NULL, words, environ);
  if (strcmp(how, "vfork") == 0) {
    child = vfork();
    if (child == 0) {
      execve(words[0], words, environ);
      _exit(127);
    }
  }
  if (strcmp(how, "fork") == 0) {
    child = fork();
    if (child == 0) {
      execv(words[0], words);
      _exit(127);
    }
  }
  return statusOf(child);
}

static void handle(int number, siginfo_t* info, void* context) {
  (void)context;
  printf("handler of %d, from this process: %d\n", number, info->si_pid == getpid());
}
static void handleSignal(void) {
  struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_NODEFER};
  sigaction(SIGUSR1, &action, NULL);
  if (handle_in_front != NULL) handle_in_front(SIGUSR1);
  raise(SIGUSR1);
}

static void* format(void* to) {
  snprintf(to, 100, "%d %f", 3, 2.5);
  return to;
}

// A thread with the smallest stack that there may be.
static void useSmallStack(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
  char text[100] = "";
  pthread_t thread;
  if (pthread_create(&thread, &attributes, format, text) == 0) pthread_join(thread, NULL);
  puts(text);
}

// From here on, starting a program or changing a file ends the process.
static void enterSandbox(void) {
  static const int forbidden[] = {SYS_clone, SYS_vfork,   SYS_fork,      SYS_clone3,  SYS_execve,
                                  SYS_mkdir, SYS_symlink, SYS_utimensat, SYS_readlink};
  enum { kCount = sizeof forbidden / sizeof *forbidden };
  struct sock_filter filter[2 * kCount + 2];
  unsigned used = 0;
  filter[used++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (unsigned i = 0; i < kCount; ++i) {
    filter[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)forbidden[i], 0, 1);
    filter[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  }
  filter[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog program = {(unsigned short)used, filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) perror("seccomp");
}

// As daemons do to show a title: over the arguments and the environment.
static void writeTitle(char** argv) {
  char* end = argv[0];
  for (char** entry = environ; *entry != NULL; ++entry)
    if (*entry + strlen(*entry) > end) end = *entry + strlen(*entry);
  static char* none[] = {NULL};
  environ = none;
  memset(argv[0], 'x', (size_t)(end - argv[0]));
}

#ifdef OWN_STORAGE_SIZE
#ifdef OWN_STORAGE_VALUE
static __thread volatile char storage[OWN_STORAGE_SIZE] = {OWN_STORAGE_VALUE};
#else
static __thread volatile char storage[OWN_STORAGE_SIZE];
#endif

static void* printStorage(void* from) {
  printf("%s: %d of %td\n", (const char*)from, storage[0],
         (char*)__builtin_thread_pointer() - (char*)storage);
  storage[0] = 9;
  return NULL;
}
#endif

int main(int argc, char** argv) {
#ifdef OWN_STORAGE_SIZE
  pthread_t thread;
  printStorage("first");
  if (pthread_create(&thread, NULL, printStorage, "second") != 0 || pthread_join(thread, NULL) != 0) return 1;
#endif
  const char* what = argc > 1 ? argv[1] : "maps";
  if (strcmp(what, "unwind") == 0) unwindFromHandler();
  if (strcmp(what, "names") == 0) printNames(argv);
  if (strcmp(what, "maps") == 0) printMaps();
  if (strcmp(what, "mapped files") == 0) printMappedFiles();
  if (strcmp(what, "handle") == 0) handleSignal();
  if (strcmp(what, "stack") == 0) useSmallStack();
  if (strcmp(what, "sandbox") == 0) enterSandbox();
  if (strcmp(what, "title") == 0) {
    char library[4096];
    snprintf(library, sizeof library, "%s", argv[2]);
    writeTitle(argv);
    if (dlopen(library, RTLD_NOW) == NULL) return 1;
    printMaps();
    fflush(stdout);
    return system("cat /proc/self/smaps");
  }
  if (strcmp(what, "dlopen") == 0 || strcmp(what, "sandbox") == 0) {
    for (int i = 2; i < argc; ++i) {
      void* handle = dlopen(argv[i], RTLD_NOW);
      if (handle == NULL) return printf("%s\n", dlerror()), 1;
      struct link_map* map = handle;
      printf("loaded=%s again=%d\n", map->l_name, dlopen(argv[i], RTLD_NOW | RTLD_NOLOAD) == handle);
    }
    printMaps();
  }
  if (strcmp(what, "child") == 0) return startChild(argv[2], argv + 3);
  if (strcmp(what, "exit") == 0) return atoi(argv[2]);
  if (strcmp(what, "kill") == 0) raise(atoi(argv[2]));
  if (strcmp(what, "fault") == 0) return on_demand_library(-1);
  return 0;
}
