#include "runtime/inject/libc/names.h"

#include "runtime/format/cache.h"
#include "runtime/inject/libc/libc.h"
#include "runtime/inject/process/process.h"

namespace traceback::inject {

namespace {

constinit char copy[4096];                // of the program; empty if it is none
constinit const char* original = nullptr; // within it

bool startsWith(const char* text, const char* start) { return strncmp(text, start, strlen(start)) == 0; }

bool isLinkToExecutable(const char* path) {
  if (!startsWith(path, "/proc/")) return false;
  const std::size_t size = strlen(path);
  return size > 10 && strcmp(path + size - 4, "/exe") == 0;
}

const char* originalIn(const char* path) {
  return process.environment.cache.empty() ? nullptr
                                           : format::originalOf(path, process.environment.cache.c_str());
}

// What readlink() of a link to an executable is to answer, at most `size` bytes of it; -1 if it is as it is.
// `read` reads the link.
template <typename Read>
long linkToOriginal(const char* path, char* buffer, std::size_t size, const Read& read) {
  if (process.environment.cache.empty() || path == nullptr || size == 0) return -1;
  const std::size_t length = strlen(path);
  if (length < 3 || strcmp(path + length - 3, "exe") != 0) return -1;
  char whole[4352];
  const long wholeSize = read(whole, sizeof whole - 1);
  if (failed(wholeSize)) return -1;
  whole[wholeSize] = 0;
  if (!isLinkToExecutable(path) && strcmp(whole, copy) != 0) return -1;
  const char* const name = originalIn(whole);
  if (name == nullptr) return -1;
  const std::size_t used = strlen(name) < size ? strlen(name) : size;
  memcpy(buffer, name, used);
  return static_cast<long>(used);
}

long linkToOriginal(const char* path, char* buffer, std::size_t size) {
  return linkToOriginal(path, buffer, size, [path](char* to, std::size_t most) {
    return systemCall(__NR_readlink, asLong(path), asLong(to), static_cast<long>(most));
  });
}
long linkToOriginalAt(int folder, const char* path, char* buffer, std::size_t size) {
  return linkToOriginal(path, buffer, size, [folder, path](char* to, std::size_t most) {
    return systemCall(__NR_readlinkat, folder, asLong(path), asLong(to), static_cast<long>(most));
  });
}

// The original's name is the end of the copy's.
char* resolved(const char* path, char* result) {
  if (result == nullptr || original == nullptr || strcmp(result, copy) != 0 || originalIn(path) != nullptr)
    return result;
  memmove(result, original, strlen(original) + 1);
  return result;
}

}  // namespace

void learnNames() {
  const long size = systemCall(__NR_readlink, asLong("/proc/self/exe"), asLong(copy), sizeof copy - 1);
  copy[failed(size) ? 0 : size] = 0;
  if (process.environment.cache.empty()) {
    if (process.environment.program.empty()) process.environment.program.add(copy);  // it started by itself
    copy[0] = 0;
    return;
  }
  original = originalIn(copy);
  process.environment.program.clear();
  process.environment.program.add(original == nullptr ? copy : original);
  if (original == nullptr) copy[0] = 0;
}

const char* originalProgram() { return original; }

}  // namespace traceback::inject

using namespace traceback::inject;

#define EXPORTED extern "C" [[gnu::visibility("default")]]

EXPORTED long readlink(const char* path, char* buffer, std::size_t size) noexcept {
  findLibc();
  const long result = linkToOriginal(path, buffer, size);
  return result >= 0 ? result : libc.readlink(path, buffer, size);
}
EXPORTED long __readlink_chk(const char* path, char* buffer, std::size_t size, std::size_t room) noexcept {
  findLibc();
  const long result = size > room ? -1 : linkToOriginal(path, buffer, size);
  return result >= 0 ? result : libc.readlinkChecked(path, buffer, size, room);
}
EXPORTED long readlinkat(int folder, const char* path, char* buffer, std::size_t size) noexcept {
  findLibc();
  const long result = linkToOriginalAt(folder, path, buffer, size);
  return result >= 0 ? result : libc.readlinkat(folder, path, buffer, size);
}
EXPORTED long __readlinkat_chk(int folder, const char* path, char* buffer, std::size_t size,
                               std::size_t room) noexcept {
  findLibc();
  const long result = size > room ? -1 : linkToOriginalAt(folder, path, buffer, size);
  return result >= 0 ? result : libc.readlinkatChecked(folder, path, buffer, size, room);
}

EXPORTED char* realpath(const char* path, char* to) noexcept {
  findLibc();
  return resolved(path, libc.realpath(path, to));
}
EXPORTED char* __realpath_chk(const char* path, char* to, std::size_t room) noexcept {
  findLibc();
  return resolved(path, libc.realpathChecked(path, to, room));
}
EXPORTED char* canonicalize_file_name(const char* path) noexcept {
  findLibc();
  return resolved(path, libc.canonicalizeFileName(path));
}

EXPORTED int dlinfo(void* handle, int request, void* answer) noexcept {
  findLibc();
  const int result = libc.dlinfo(handle, request, answer);
  constexpr int kOrigin = 6;  // RTLD_DI_ORIGIN
  if (result != 0 || request != kOrigin) return result;
  // The path of a folder; with a file name behind it, it is one that may be looked at.
  auto* const folder = static_cast<char*>(answer);
  if (const char* name = originalIn(folder)) memmove(folder, name, strlen(name) + 1);
  return result;
}
