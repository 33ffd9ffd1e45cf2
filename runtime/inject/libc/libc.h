// The few functions of libc that the runtime stands in front of, or needs.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <spawn.h>

#include <cstddef>

using FILE = struct _IO_FILE;
struct dl_phdr_info;

namespace traceback::inject {

struct Libc {
  int (*sigaction)(int, const struct sigaction*, struct sigaction*);
  int (*sigprocmask)(int, const sigset_t*, sigset_t*);
  int (*pthreadSigmask)(int, const sigset_t*, sigset_t*);
  int (*signalfd)(int, const sigset_t*, int);
  int (*dlclose)(void*);
  int (*underscoreFork)();  // _Fork
  int (*fork)();
  int (*clone)(int (*)(void*), void*, int, void*, ...);
  int (*execve)(const char*, char* const*, char* const*);
  int (*execv)(const char*, char* const*);
  int (*execvp)(const char*, char* const*);
  int (*execvpe)(const char*, char* const*, char* const*);
  int (*fexecve)(int, char* const*, char* const*);
  int (*execveat)(int, const char*, char* const*, char* const*, int);
  int (*posixSpawn)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                    char* const*, char* const*);
  int (*posixSpawnp)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                     char* const*, char* const*);
  int (*pthreadCreate)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  int (*system)(const char*);
  FILE* (*popen)(const char*, const char*);
  long (*readlink)(const char*, char*, unsigned long);
  long (*readlinkChecked)(const char*, char*, unsigned long, unsigned long);
  long (*readlinkat)(int, const char*, char*, unsigned long);
  long (*readlinkatChecked)(int, const char*, char*, unsigned long, unsigned long);
  char* (*realpath)(const char*, char*);
  char* (*realpathChecked)(const char*, char*, unsigned long);
  char* (*canonicalizeFileName)(const char*);
  int (*dlinfo)(void*, int, void*);
  int (*open)(const char*, int, ...);
  int (*open64)(const char*, int, ...);
  int (*openat)(int, const char*, int, ...);
  int (*openat64)(int, const char*, int, ...);
  int (*openChecked)(const char*, int);
  int (*open64Checked)(const char*, int);
  int (*openatChecked)(int, const char*, int);
  int (*openat64Checked)(int, const char*, int);
  int (*backtrace)(void**, int);
  int (*dladdr)(const void*, void*);
  int (*dladdr1)(const void*, void*, void**, int);
  const char* const* abortMessage;  // its __abort_msg: null, or the size of a text and that text
  int (*findObject)(void*, void*);  // _dl_find_object, of 2.35 and later; else null
  FILE* (*fopen)(const char*, const char*);
  FILE* (*fopen64)(const char*, const char*);
  bool isSince241;  // 2.41 or later
};
extern Libc libc;

// Looks all of them up, and the ones that jumps in hooks.S lead to. Needs no other part of the runtime.
void findLibc();

// The function of the libraries behind this one; of the sanitizer's, if there is one, for that stands in
// front of libc's, too, without a version.
void* nextFunction(const char* name, const char* version);
// By libc's dlsym: from RTLD_NEXT the next library's that has the name, be it a sanitizer's or one that was
// preloaded.
void* findOfAnyVersion(void* handle, const char* name);

// libc's own dl_iterate_phdr. A preloaded library's may ask dlsym for that, which is ours.
int iterateObjects(int (*visit)(dl_phdr_info*, std::size_t, void*), void* data);

void setErrno(int error);

}  // namespace traceback::inject
