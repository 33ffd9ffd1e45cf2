// The few functions of libc that the runtime stands in front of, or needs.
#pragma once

#include <signal.h>

namespace traceback::inject {

struct Libc {
  int (*sigaction)(int, const struct sigaction*, struct sigaction*);
  int (*dlclose)(void*);
  int (*underscoreFork)();  // _Fork
  int (*fork)();
  int (*execve)(const char*, char* const*, char* const*);
  int (*execv)(const char*, char* const*);
  int (*execvp)(const char*, char* const*);
  int (*execvpe)(const char*, char* const*, char* const*);
  int (*fexecve)(int, char* const*, char* const*);
  int (*execveat)(int, const char*, char* const*, char* const*, int);
};
extern Libc libc;

// Looks all of them up, and the ones that jumps in hooks.S lead to. Needs no other part of the runtime.
void findLibc();

void setErrno(int error);

}  // namespace traceback::inject
