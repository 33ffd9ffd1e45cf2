// Executing another program: the process lives on under its number, but what it recorded ends here. The
// process file says so while the call is under way, and no longer once that failed. Where that is simple
// the files are taken away altogether.
#include <errno.h>
#include <stdarg.h>

#include "runtime/inject/libc.h"
#include "runtime/inject/process.h"
#include "runtime/inject/rings.h"

using namespace traceback;
using namespace traceback::inject;

namespace {

using Strings = char* const*;

class RecordingEnds {
 public:
  RecordingEnds() {
    findLibc();
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

EXPORTED int execve(const char* path, Strings arguments, Strings environment) noexcept {
  const RecordingEnds ends;
  return libc.execve(path, arguments, environment);
}
EXPORTED int execv(const char* path, Strings arguments) noexcept {
  const RecordingEnds ends;
  return libc.execv(path, arguments);
}
EXPORTED int execvp(const char* file, Strings arguments) noexcept {
  const RecordingEnds ends;
  return libc.execvp(file, arguments);
}
EXPORTED int execvpe(const char* file, Strings arguments, Strings environment) noexcept {
  const RecordingEnds ends;
  return libc.execvpe(file, arguments, environment);
}
EXPORTED int fexecve(int descriptor, Strings arguments, Strings environment) noexcept {
  const RecordingEnds ends;
  return libc.fexecve(descriptor, arguments, environment);
}
EXPORTED int execveat(int folder, const char* path, Strings arguments, Strings environment,
                      int flags) noexcept {
  const RecordingEnds ends;
  return libc.execveat(folder, path, arguments, environment, flags);
}
EXPORTED int execl(const char* path, const char* first, ...) noexcept {
  ARGUMENTS(arguments, first);
  va_end(rest);
  const RecordingEnds ends;
  return libc.execv(path, arguments);
}
EXPORTED int execlp(const char* file, const char* first, ...) noexcept {
  ARGUMENTS(arguments, first);
  va_end(rest);
  const RecordingEnds ends;
  return libc.execvp(file, arguments);
}
EXPORTED int execle(const char* path, const char* first, ...) noexcept {
  ARGUMENTS(arguments, first);
  Strings environment = va_arg(rest, Strings);
  va_end(rest);
  const RecordingEnds ends;
  return libc.execve(path, arguments, environment);
}
