#include "runtime/inject/audit/settings.h"

#include <elf.h>

#include "runtime/format/cache.h"
#include "runtime/inject/audit/pattern.h"

namespace traceback::inject::audit {

constinit Settings settings;

namespace {

constexpr const char* kNames[] = {"TRACEBACK_CACHE", "TRACEBACK_COLLECTOR", "TRACEBACK_ONLY",
                                  "TRACEBACK_EXCLUDE", "TRACEBACK_EXEC"};

// Parts of one whole, with private interfaces between them, and the ground that the runtime stands on.
constexpr char kCLibrary[] =
    "ld-linux-x86-64.so.*\nlibc.so.*\nlibpthread.so.*\nlibdl.so.*\nlibrt.so.*\nlibutil.so.*\nlibanl.so.*\n"
    "libthread_db.so.*\nlibtraceback*.so";

// The debugging of the dynamic linker itself: what it prints is the program's.
constexpr const char* kLinkerModes[] = {"LD_TRACE_LOADED_OBJECTS", "LD_VERBOSE"};

}  // namespace

const char* baseName(const char* path) {
  const char* name = path;
  for (; *path != 0; ++path)
    if (*path == '/') name = path + 1;
  return name;
}

bool readSettings(void* stackEnd) {
  auto* words = static_cast<std::uint64_t*>(stackEnd);
  const std::uint64_t count = words[0];
  settings.arguments = reinterpret_cast<char**>(words + 1);
  settings.environment = settings.arguments + count + 1;
  const char** const values[] = {&settings.cache, &settings.collector, &settings.only, &settings.exclude,
                                 &settings.execution};
  char** entry = settings.environment;
  for (; *entry != nullptr; ++entry) {
    for (const char* mode : kLinkerModes)
      if (valueOf(*entry, mode) != nullptr) return false;
    if (const char* value = valueOf(*entry, "TRACEBACK"); value != nullptr && strcmp(value, "off") == 0)
      return false;
    for (unsigned i = 0; i < sizeof kNames / sizeof *kNames; ++i)
      if (const char* value = valueOf(*entry, kNames[i]); value != nullptr) *values[i] = value;
  }
  settings.auxiliary = reinterpret_cast<std::uint64_t*>(entry + 1);
  for (const std::uint64_t* aux = settings.auxiliary; aux[0] != AT_NULL; aux += 2)
    if (aux[0] == AT_SECURE && aux[1] != 0) return false;
  return settings.cache != nullptr && settings.cache[0] == '/' && settings.collector != nullptr;
}

const char* originalOf(const char* path) {
  return settings.cache == nullptr ? nullptr : format::originalOf(path, settings.cache);
}

bool isWanted(const char* path) {
  if (matchesAny(kCLibrary, path)) return false;
  if (settings.only != nullptr && *settings.only != 0 && !matchesAny(settings.only, path)) return false;
  return settings.exclude == nullptr || !matchesAny(settings.exclude, path);
}

}  // namespace traceback::inject::audit
