#include "runtime/inject/libc/opened_file.h"

#include <linux/fcntl.h>

#include "runtime/inject/libc/libc.h"
#include "runtime/inject/libc/names.h"
#include "runtime/inject/libc/own_maps.h"
#include "runtime/inject/process/process.h"

namespace traceback::inject {

namespace {

// Whether it is a file of that name in this process's folder: /proc/self, /proc/thread-self or /proc/PID.
bool isOwn(const char* path, const char* name) {
  if (path == nullptr || strncmp(path, "/proc/", 6) != 0 || !endsWith(path, name)) return false;
  const char* const who = path + 6;
  Text<32> numbered;
  numbered.add(std::uint64_t{rawPid()}).add(name);
  constexpr const char* kFolders[] = {"self", "thread-self"};
  for (const char* folder : kFolders)
    if (strncmp(who, folder, strlen(folder)) == 0 && strcmp(who + strlen(folder), name) == 0) return true;
  return strcmp(who, numbered.c_str()) == 0;
}

}  // namespace

OpenedFile::OpenedFile(const char* path, bool reads) : m_path(path) {
  const char* const program = originalProgram();
  if (isOwn(path, "/exe") && program != nullptr && !failed(systemCall(__NR_access, asLong(program), 0))) {
    m_path = program;
  } else if (reads && !process.environment.cache.empty() && !process.sandboxed && isOwn(path, "/maps")) {
    m_made = makeOwnMaps();
    if (m_made >= 0) m_path = m_link.add("/proc/self/fd/").add(static_cast<std::uint64_t>(m_made)).c_str();
  }
}

void OpenedFile::close() {
  if (m_made >= 0) systemCall(__NR_close, m_made);
  m_made = -1;
}

}  // namespace traceback::inject

using namespace traceback::inject;

#define EXPORTED extern "C" [[gnu::visibility("default")]]

static bool reads(int flags) { return (flags & O_ACCMODE) == O_RDONLY; }
static bool reads(const char* mode) {
  if (mode == nullptr || *mode != 'r') return false;
  while (*mode != 0 && *mode != '+') ++mode;
  return *mode == 0;
}

static bool hasFailed(int result) { return result < 0; }
static bool hasFailed(const FILE* result) { return result == nullptr; }

// What was made takes a descriptor more: where that is one too many, the file is opened as it is.
template <typename Open>
static auto openMeant(const char* path, bool forReading, const Open& opened) {
  OpenedFile file(path, forReading);
  const auto result = opened(file.path());
  if (!file.isMade() || !hasFailed(result)) return result;
  file.close();
  return opened(path);
}

// The mode is there or not, as the flags say; handing on what is not does no harm.
EXPORTED int open(const char* path, int flags, unsigned mode) {
  findLibc();
  return openMeant(path, reads(flags), [&](const char* meant) { return libc.open(meant, flags, mode); });
}
EXPORTED int open64(const char* path, int flags, unsigned mode) {
  findLibc();
  return openMeant(path, reads(flags), [&](const char* meant) { return libc.open64(meant, flags, mode); });
}
EXPORTED int openat(int folder, const char* path, int flags, unsigned mode) {
  findLibc();
  return openMeant(path, reads(flags),
                   [&](const char* meant) { return libc.openat(folder, meant, flags, mode); });
}
EXPORTED int openat64(int folder, const char* path, int flags, unsigned mode) {
  findLibc();
  return openMeant(path, reads(flags),
                   [&](const char* meant) { return libc.openat64(folder, meant, flags, mode); });
}
EXPORTED int __open_2(const char* path, int flags) {
  findLibc();
  return openMeant(path, reads(flags), [&](const char* meant) { return libc.openChecked(meant, flags); });
}
EXPORTED int __open64_2(const char* path, int flags) {
  findLibc();
  return openMeant(path, reads(flags), [&](const char* meant) { return libc.open64Checked(meant, flags); });
}
EXPORTED int __openat_2(int folder, const char* path, int flags) {
  findLibc();
  return openMeant(path, reads(flags),
                   [&](const char* meant) { return libc.openatChecked(folder, meant, flags); });
}
EXPORTED int __openat64_2(int folder, const char* path, int flags) {
  findLibc();
  return openMeant(path, reads(flags),
                   [&](const char* meant) { return libc.openat64Checked(folder, meant, flags); });
}
EXPORTED FILE* fopen(const char* path, const char* mode) {
  findLibc();
  return openMeant(path, reads(mode), [&](const char* meant) { return libc.fopen(meant, mode); });
}
EXPORTED FILE* fopen64(const char* path, const char* mode) {
  findLibc();
  return openMeant(path, reads(mode), [&](const char* meant) { return libc.fopen64(meant, mode); });
}
