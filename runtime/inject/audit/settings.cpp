#include "runtime/inject/audit/settings.h"

#include <elf.h>
#include <fcntl.h>

#include "runtime/format/cache.h"
#include "runtime/inject/audit/pattern.h"

namespace traceback::inject::audit {

constinit Settings settings;

namespace {

constexpr const char* kNames[] = {"TRACEBACK_CACHE",   "TRACEBACK_COLLECTOR", "TRACEBACK_ONLY",
                                  "TRACEBACK_EXCLUDE", "TRACEBACK_EXEC",      "TRACEBACK_SANITIZED"};

// The debugging of the dynamic linker itself: what it prints is the program's.
constexpr const char* kLinkerModes[] = {"LD_TRACE_LOADED_OBJECTS", "LD_VERBOSE"};

constexpr const char* kForInstrumentor[] = {"TRACEBACK_INSTRUMENT", "TRACEBACK_CACHE_SIZE"};

bool contains(const char* text, const char* part) {
  for (; *text != 0; ++text)
    if (strncmp(text, part, strlen(part)) == 0) return true;
  return false;
}

}  // namespace

const char* baseName(const char* path) {
  const char* name = path;
  for (; *path != 0; ++path)
    if (*path == '/') name = path + 1;
  return name;
}

bool readStatus(const char* path, struct stat& status, int flags) {
  return !failed(systemCall(__NR_newfstatat, AT_FDCWD, asLong(path), asLong(&status), flags));
}

bool isSameFile(const char* a, const char* b) {
  struct stat first{}, second{};
  return readStatus(a, first) && readStatus(b, second) && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

const char* keepText(const char* text) {
  static constinit char pool[32768];
  static constinit std::size_t used = 0;
  const std::size_t size = strlen(text) + 1;
  if (size > sizeof pool - used) return nullptr;
  char* const to = pool + used;
  memcpy(to, text, size);
  used += size;
  return to;
}

const std::uint64_t* auxiliaryValue(std::uint64_t type) {
  for (const std::uint64_t* aux = settings.auxiliary; aux[0] != AT_NULL; aux += 2)
    if (aux[0] == type) return &aux[1];
  return nullptr;
}

bool readSettings(void* stackEnd) {
  auto* words = static_cast<std::uint64_t*>(stackEnd);
  const std::uint64_t count = words[0];
  settings.arguments = reinterpret_cast<char**>(words + 1);
  settings.environment = settings.arguments + count + 1;
  const char** const values[] = {&settings.cache,   &settings.collector, &settings.only,
                                 &settings.exclude, &settings.execution, &settings.sanitized};
  unsigned forInstrumentor = 0;
  bool runtimeIsThere = false;
  char** entry = settings.environment;
  for (; *entry != nullptr; ++entry) {
    for (const char* mode : kLinkerModes)
      if (valueOf(*entry, mode) != nullptr) return false;
    if (const char* value = valueOf(*entry, "TRACEBACK"); value != nullptr && strcmp(value, "off") == 0)
      return false;
    if (const char* value = valueOf(*entry, "LD_PRELOAD"))
      runtimeIsThere = contains(value, "/libtraceback.so");
    for (const char* name : kForInstrumentor)
      if (valueOf(*entry, name) != nullptr &&
          (settings.forInstrumentor[forInstrumentor] = keepText(*entry)) != nullptr)
        ++forInstrumentor;
    for (unsigned i = 0; i < sizeof kNames / sizeof *kNames; ++i)
      if (const char* value = valueOf(*entry, kNames[i]); value != nullptr)
        if ((*values[i] = keepText(value)) == nullptr) return false;
  }
  settings.auxiliary = reinterpret_cast<std::uint64_t*>(entry + 1);
  if (const std::uint64_t* secure = auxiliaryValue(AT_SECURE); secure != nullptr && *secure != 0)
    return false;
  return settings.cache != nullptr && settings.cache[0] == '/' && settings.collector != nullptr &&
         runtimeIsThere;
}

const char* originalOf(const char* path) {
  return settings.cache == nullptr ? nullptr : format::originalOf(path, settings.cache);
}

bool isWanted(const char* path) {
  constexpr const char* kLeft[] = {kCLibrary, kSanitizers, kAddressSanitizer, kUndefinedSanitizer};
  for (const char* patterns : kLeft)
    if (matchesAny(patterns, path)) return false;
  if (settings.only != nullptr && *settings.only != 0 && !matchesAny(settings.only, path)) return false;
  return settings.exclude == nullptr || !matchesAny(settings.exclude, path);
}

}  // namespace traceback::inject::audit
