// Executing another program: the process lives on under its number, but what it recorded ends here. The
// process file says so while the call is under way, and no longer once that failed. Where that is simple
// the files are taken away altogether.
#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

#include "runtime/inject/libc/libc.h"
#include "runtime/inject/process/following.h"
#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/ring_table.h"
#include "runtime/inject/signals/fault.h"
#include "runtime/inject/signals/held_faults.h"

using namespace traceback;
using namespace traceback::inject;

namespace {

class RecordingEnds {
 public:
  RecordingEnds() {
    findLibc();
    letFaultEndProcess();
    // Not in a vfork child: the file is its parent's.
    if (!inForkedChild() && !process.sandboxed && process.file != nullptr && inOwnProcess())
      m_file = process.file;
    setState(format::ProcessState::Exited);
    m_withdrawn = m_file != nullptr && withdrawFiles();
  }
  ~RecordingEnds() {
    const int error = errno;
    setState(format::ProcessState::Running);
    if (m_withdrawn) restoreFiles();
    setErrno(error);
  }
  RecordingEnds(const RecordingEnds&) = delete;
  RecordingEnds& operator=(const RecordingEnds&) = delete;

 private:
  void setState(format::ProcessState state) {
    if (m_file != nullptr)
      __atomic_store_n(&m_file->state, static_cast<std::uint32_t>(state), __ATOMIC_RELEASE);
  }
  const HeldBlocked m_mask;
  format::ProcessHeader* m_file = nullptr;
  bool m_withdrawn = false;
};

// The variable arguments as an array on the stack, as libc makes it: `count` with the first, and the null.
std::size_t countArguments(va_list arguments) {
  std::size_t count = 2;
  while (va_arg(arguments, char*) != nullptr) ++count;
  return count;
}
void copyArguments(char** to, const char* first, va_list arguments) {
  *to++ = const_cast<char*>(first);
  while ((*to++ = va_arg(arguments, char*)) != nullptr) {
  }
}

}  // namespace

// Declares `array` with the arguments from `first` on; `rest` is left behind the null.
#define ARGUMENTS(array, first)                                                      \
  va_list rest;                                                                      \
  va_start(rest, first);                                                             \
  const std::size_t count = countArguments(rest);                                    \
  va_end(rest);                                                                      \
  char** const array = static_cast<char**>(__builtin_alloca(count * sizeof(char*))); \
  va_start(rest, first);                                                             \
  copyArguments(array, first, rest)

#define EXPORTED extern "C" [[gnu::visibility("default")]]
// Reached from hooks.S, too.
#define HIDDEN extern "C" [[gnu::visibility("hidden"), gnu::used]]

HIDDEN long traceback_execve(const char* path, Strings arguments, Strings environment) noexcept {
  const RecordingEnds ends;
  FOLLOW(path, environment);
  return libc.execve(path, arguments, passed);
}
EXPORTED int execve(const char* path, Strings arguments, Strings environment) noexcept {
  return int(traceback_execve(path, arguments, environment));
}
EXPORTED int execv(const char* path, Strings arguments) noexcept {
  const RecordingEnds ends;
  FOLLOW(path, environ);
  return libc.execve(path, arguments, passed);
}
EXPORTED int execvp(const char* file, Strings arguments) noexcept {
  const RecordingEnds ends;
  FOLLOW(file, environ);
  return libc.execvpe(file, arguments, passed);
}
EXPORTED int execvpe(const char* file, Strings arguments, Strings environment) noexcept {
  const RecordingEnds ends;
  FOLLOW(file, environment);
  return libc.execvpe(file, arguments, passed);
}
EXPORTED int fexecve(int descriptor, Strings arguments, Strings environment) noexcept {
  const RecordingEnds ends;
  FOLLOW(nullptr, environment);
  return libc.fexecve(descriptor, arguments, passed);
}
HIDDEN long traceback_execveat(int folder, const char* path, Strings arguments, Strings environment,
                               int flags) noexcept {
  const RecordingEnds ends;
  FOLLOW(nullptr, environment);
  return libc.execveat(folder, path, arguments, passed, flags);
}
EXPORTED int execveat(int folder, const char* path, Strings arguments, Strings environment,
                      int flags) noexcept {
  return int(traceback_execveat(folder, path, arguments, environment, flags));
}
EXPORTED int execl(const char* path, const char* first, ...) noexcept {
  ARGUMENTS(arguments, first);
  va_end(rest);
  const RecordingEnds ends;
  FOLLOW(path, environ);
  return libc.execve(path, arguments, passed);
}
EXPORTED int execlp(const char* file, const char* first, ...) noexcept {
  ARGUMENTS(arguments, first);
  va_end(rest);
  const RecordingEnds ends;
  FOLLOW(file, environ);
  return libc.execvpe(file, arguments, passed);
}
EXPORTED int execle(const char* path, const char* first, ...) noexcept {
  ARGUMENTS(arguments, first);
  Strings environment = va_arg(rest, Strings);
  va_end(rest);
  const RecordingEnds ends;
  FOLLOW(path, environment);
  return libc.execve(path, arguments, passed);
}

// The process goes on; only the child is another program.
EXPORTED int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                         const posix_spawnattr_t* attributes, Strings arguments, Strings environment) {
  findLibc();
  FOLLOW(path, environment);
  const HeldBlocked mask;
  return libc.posixSpawn(pid, path, actions, attributes, arguments, passed);
}
EXPORTED int posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                          const posix_spawnattr_t* attributes, Strings arguments, Strings environment) {
  findLibc();
  FOLLOW(file, environment);
  const HeldBlocked mask;
  return libc.posixSpawnp(pid, file, actions, attributes, arguments, passed);
}

EXPORTED int system(const char* line) {
  findLibc();
  const Command command = followedCommand(line);
  const HeldBlocked mask;
  const int result = libc.system(command.text != nullptr ? command.text : line);
  giveBack(command);
  return result;
}
EXPORTED FILE* popen(const char* line, const char* mode) {
  findLibc();
  const Command command = followedCommand(line);
  const HeldBlocked mask;
  FILE* const result = libc.popen(command.text != nullptr ? command.text : line, mode);
  giveBack(command);
  return result;
}
