// libtraceback-audit.so: has the dynamic linker load instrumented copies in the place of the files that it
// looks for (rtld-audit(7)), and the program executed as its copy before any of its code runs.
//
// The linker knows a library that it searches for by the name that it searched for, and only opens the copy.
// A name with a slash is another matter: the answer becomes the object's name. So it is put back as soon as
// the object is there; and so that $ORIGIN keeps its meaning, names below a copy's folder lead to the folder
// of its original.
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>

#include "runtime/format/cache.h"
#include "runtime/inject/audit/copies.h"
#include "runtime/inject/audit/program.h"
#include "runtime/inject/audit/settings.h"
#include "runtime/inject/kernel/valgrind.h"

extern "C" void* __libc_stack_end;

namespace traceback::inject::audit {

namespace {

constinit format::Bridge bridge{format::kBridgeMagic, nullptr};

// Answers stay where they are until the next question: the linker asks under its lock.
constinit LongPath copyPath, named;
// The last name with a slash that was answered with another, and that other.
constinit LongPath requested, answered;

constinit bool programRuns = false;

void offerBridge() {
  for (char** entry = settings.environment; *entry != nullptr; ++entry) {
    char* value = valueOf(*entry, "TRACEBACK_AUDIT");
    if (value == nullptr || strlen(value) != 16) continue;
    const auto address = reinterpret_cast<std::uint64_t>(&bridge);
    for (unsigned i = 0; i < 16; ++i) value[i] = "0123456789abcdef"[(address >> (60 - 4 * i)) & 15];
  }
}

// The name with a leading $ORIGIN made the folder of the original, if the program itself asks.
const char* withOrigin(const char* name, const link_map* loader) {
  const char* const original = originalProgram();
  std::size_t size = 0;
  if (strncmp(name, "$ORIGIN", 7) == 0) size = 7;
  if (strncmp(name, "${ORIGIN}", 9) == 0) size = 9;
  if (original == nullptr || size == 0 || name[size] != '/' || loader == nullptr ||
      loader->l_name == nullptr || loader->l_name[0] != 0)
    return name;
  named.clear();
  for (const char *at = original, *const end = baseName(original); at + 1 < end; ++at) {
    const char one[2] = {*at, 0};
    named.add(one);
  }
  named.add(name + size);
  return named.good() ? named.c_str() : name;
}

// Makes the folders of a path, from `start` on. Never behind a link, for that would be outside the cache.
bool makeFolders(LongPath& path, std::size_t start) {
  char* const text = path.bytes();
  for (std::size_t i = start; i < path.size(); ++i) {
    if (text[i] != '/' || i == start) continue;
    const std::size_t size = i;
    if (text[size - 1] == '.' && text[size - 2] == '.' && text[size - 3] == '/') return false;
    text[size] = 0;
    systemCall(__NR_mkdir, asLong(text), 0700);
    struct stat status{};
    const bool made = readStatus(text, status, AT_SYMLINK_NOFOLLOW) && S_ISDIR(status.st_mode);
    text[size] = '/';
    if (!made) return false;
  }
  return true;
}

std::size_t folderSize(const char* path) { return static_cast<std::size_t>(baseName(path) - path); }

// `copy` is to be loaded in the place of the file that is named `name`, which may be a link in another folder
// than the file's own. $ORIGIN is the folder of the name: so the copy gets a second name, in the folder that
// stands for that one.
void preferNamed(const char* name, LongPath& copy) {
  static constinit LongPath alias, absolute;
  absolute.clear();
  if (name[0] != '/') {
    char folder[4096];
    const long size = systemCall(__NR_getcwd, asLong(folder), sizeof folder);
    if (failed(size)) return;
    absolute.add(folder).add("/");
  }
  absolute.add(name);
  const char* const original = originalOf(copy.c_str());
  if (original == nullptr || !absolute.good()) return;
  const std::size_t size = folderSize(original);
  if (size == folderSize(absolute.c_str()) && memcmp(original, absolute.c_str(), size) == 0) return;
  alias.clear();
  for (const char* at = copy.c_str(); at != original; ++at) {
    const char one[2] = {*at, 0};
    alias.add(one);
  }
  const std::size_t start = alias.size();
  alias.add(absolute.c_str());
  if (!alias.good()) return;
  if (!isSameFile(alias.c_str(), copy.c_str())) {
    if (!mayCallAnything() || !makeFolders(alias, start)) return;
    systemCall(__NR_symlink, asLong(copy.c_str()), asLong(alias.c_str()));
    if (!isSameFile(alias.c_str(), copy.c_str())) return;
  }
  copy.clear();
  copy.add(alias.c_str());
}

char* search(const char* name, const link_map* loader, unsigned how) {
  const bool asked = (how & LA_SER_ORIG) != 0;
  const char* file = asked ? withOrigin(name, loader) : name;
  const char* slash = file;
  while (*slash != 0 && *slash != '/') ++slash;
  if (*slash == 0) return const_cast<char*>(name);
  if (const char* original = originalOf(file)) file = original;
  if (isWanted(file) && findCopy(file, false, copyPath)) {
    if (asked) {
      preferNamed(file, copyPath);
      requested.clear();
      requested.add(file);
      answered.clear();
      answered.add(copyPath.c_str());
    }
    return const_cast<char*>(copyPath.c_str());
  }
  return const_cast<char*>(file);
}

// Never longer than what stands there: `to` is the linker's own text, of just that size.
void rename(char* to, const char* name) {
  const std::size_t size = strlen(name);
  if (size <= strlen(to)) memmove(to, name, size + 1);
}

}  // namespace

}  // namespace traceback::inject::audit

using namespace traceback::inject::audit;

#define EXPORTED extern "C" [[gnu::visibility("default")]]

EXPORTED unsigned la_version(unsigned version) {
  // Valgrind would lose a program that executes itself.
  if (traceback::inject::inValgrind() || !readSettings(__libc_stack_end)) return 0;
  noteFilters();
  considerProgram();
  offerBridge();
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

EXPORTED char* la_objsearch(const char* name, std::uintptr_t* cookie, unsigned how) {
  return search(name, reinterpret_cast<const link_map*>(*cookie), how);
}

EXPORTED unsigned la_objopen(link_map* object, Lmid_t space, std::uintptr_t*) {
  char* name = object->l_name;
  if (name == nullptr || name[0] == 0) return 0;
  if (!programRuns && space == LM_ID_BASE) considerLibrary(*object);
  if (!answered.empty() && strcmp(name, answered.c_str()) == 0)
    rename(name, requested.c_str());
  else if (const char* original = originalOf(name))
    rename(name, original);
  return 0;
}

EXPORTED void la_preinit(std::uintptr_t*) { programRuns = true; }

EXPORTED void la_activity(std::uintptr_t*, unsigned state) {
  if (state != LA_ACT_CONSISTENT) return;
  if (auto* loaded = __atomic_load_n(&bridge.objectsLoaded, __ATOMIC_ACQUIRE)) loaded();
}
