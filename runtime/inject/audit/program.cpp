#include "runtime/inject/audit/program.h"

#include <elf.h>
#include <linux/prctl.h>
#include <sys/stat.h>

#include "runtime/format/cache.h"
#include "runtime/inject/audit/copies.h"
#include "runtime/inject/audit/pattern.h"
#include "runtime/inject/audit/settings.h"

namespace traceback::inject::audit {

namespace {

constexpr std::size_t kNameSize = 16;  // of a process, with the zero

constexpr const char* kLists[] = {"LD_PRELOAD", "LD_AUDIT", "GLIBC_TUNABLES"};

constinit char executable[4096];
constinit const char* original = nullptr;

bool readExecutable() {
  const long size =
      systemCall(__NR_readlink, asLong("/proc/self/exe"), asLong(executable), sizeof executable - 1);
  executable[failed(size) ? 0 : size] = 0;
  return executable[0] == '/';
}

// Another file may be there by now, or in another mount namespace.
bool pathIsStillTrue() {
  struct stat byPath{}, byProcess{};
  return !failed(systemCall(__NR_stat, asLong(executable), asLong(&byPath))) &&
         !failed(systemCall(__NR_stat, asLong("/proc/self/exe"), asLong(&byProcess))) &&
         byPath.st_dev == byProcess.st_dev && byPath.st_ino == byProcess.st_ino;
}

// Executed in an original's place, under a file name that is not the one the program was called by: the
// process's name and AT_EXECFN are put right.
void restoreNames() {
  if (settings.execution == nullptr) return;
  char name[kNameSize] = {};
  const char* at = settings.execution;
  for (unsigned i = 0; *at != 0 && *at != '/' && i + 1 < kNameSize; ++i) name[i] = *at++;
  if (*at != '/') return;
  if (name[0] != 0) systemCall(__NR_prctl, PR_SET_NAME, asLong(name));
  if (const std::uint64_t* value = auxiliaryValue(AT_EXECFN))
    *const_cast<std::uint64_t*>(value) = reinterpret_cast<std::uint64_t>(at + 1);
}

// The program's arguments and environment as they are, with the names for restoreNames() added.
// AddressSanitizer reads its options from the first variable of that name, and the runtime hides it.
void execute(const char* file, bool sanitized) {
  static constinit LongPath execution;
  char name[kNameSize] = {};
  systemCall(__NR_prctl, PR_GET_NAME, asLong(name));
  const std::uint64_t* execfn = auxiliaryValue(AT_EXECFN);
  execution.add("TRACEBACK_EXEC=")
      .add(name)
      .add("/")
      .add(execfn == nullptr ? executable : reinterpret_cast<const char*>(*execfn));
  static constinit LongPath options;
  if (sanitized) {
    options.add(format::kSanitizerOptions);
    options.add("=");
    for (char** entry = settings.environment; *entry != nullptr; ++entry)
      if (const char* value = valueOf(*entry, format::kSanitizerOptions); value != nullptr && *value != 0) {
        options.add(value).add(":");
        break;
      }
    options.add(format::kAnyLinkOrder);
  }
  if (!execution.good() || !options.good()) return;
  std::size_t count = 0;
  while (settings.environment[count] != nullptr) ++count;
  auto** environment = static_cast<const char**>(__builtin_alloca((count + 3) * sizeof(char*)));
  std::size_t used = 0;
  if (sanitized) environment[used++] = options.c_str();
  for (std::size_t i = 0; i < count; ++i)
    if (valueOf(settings.environment[i], "TRACEBACK_EXEC") == nullptr)
      environment[used++] = settings.environment[i];
  environment[used++] = execution.c_str();
  environment[used] = nullptr;
  systemCall(__NR_execve, asLong(file), asLong(settings.arguments), asLong(environment));
  // Out of memory, or the cache is mounted noexec: the original goes on.
}

// Takes what is ours out of a list, in place.
void removeOurs(char* list) {
  char* part = list;
  for (char* at = list;; ++at) {
    if (*at != 0 && *at != ':' && *at != ' ') continue;
    const char end = *at;
    *at = 0;
    const bool ours = strcmp(part, format::kTunable) == 0 || strcmp(baseName(part), "libtraceback.so") == 0 ||
                      strcmp(baseName(part), "libtraceback-audit.so") == 0;
    *at = end;
    if (ours) {
      // With the divider behind it, or the one before it.
      char* const rest = end != 0 ? at + 1 : at;
      if (end == 0 && part != list) --part;
      memmove(part, rest, strlen(rest) + 1);
      at = part - 1;
      if (end == 0) return;
      continue;
    }
    if (end == 0) return;
    part = at + 1;
  }
}

bool isOurs(char* entry) {
  if (strncmp(entry, "TRACEBACK_", 10) == 0) return true;
  for (const char* list : kLists)
    if (const char* value = valueOf(entry, list); value != nullptr && *value == 0) return true;
  return false;
}

// The program once more, as if nothing of ours had been there.
void executeAlone() {
  std::size_t used = 0;
  for (std::size_t i = 0; settings.environment[i] != nullptr; ++i) {
    char* const entry = settings.environment[i];
    for (const char* name : kLists)
      if (char* value = valueOf(entry, name)) removeOurs(value);
    if (!isOurs(entry)) settings.environment[used++] = entry;
  }
  settings.environment[used] = nullptr;
  systemCall(__NR_execve, asLong(executable), asLong(settings.arguments), asLong(settings.environment));
}

// Whether the program's own list has a library that fits.
bool needs(const char* patterns) {
  const std::uint64_t* headers = auxiliaryValue(AT_PHDR);
  const std::uint64_t* count = auxiliaryValue(AT_PHNUM);
  if (headers == nullptr || count == nullptr) return false;
  const auto* segments = reinterpret_cast<const Elf64_Phdr*>(*headers);
  std::uint64_t bias = 0;
  const Elf64_Dyn* dynamic = nullptr;
  for (std::uint64_t i = 0; i < *count; ++i)
    if (segments[i].p_type == PT_PHDR) bias = *headers - segments[i].p_vaddr;
  for (std::uint64_t i = 0; i < *count; ++i)
    if (segments[i].p_type == PT_DYNAMIC)
      dynamic = reinterpret_cast<const Elf64_Dyn*>(bias + segments[i].p_vaddr);
  if (dynamic == nullptr) return false;
  const char* strings = nullptr;
  // The linker may have made an address of it already.
  for (const auto* entry = dynamic; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_STRTAB)
      strings = reinterpret_cast<const char*>(entry->d_un.d_ptr < bias ? entry->d_un.d_ptr + bias
                                                                       : entry->d_un.d_ptr);
  for (const auto* entry = dynamic; strings != nullptr && entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_NEEDED && matchesAny(patterns, strings + entry->d_un.d_val)) return true;
  return false;
}

}  // namespace

const char* originalProgram() { return original; }

void considerProgram() {
  if (!readExecutable()) return;
  original = originalOf(executable);
  if (original != nullptr) return restoreNames();
  if (!pathIsStillTrue()) return;
  const bool sanitized = needs(kAddressSanitizer);
  if (needs(kSanitizers) || (sanitized && settings.sanitized == nullptr)) executeAlone();
  static constinit LongPath copy;
  if (strcmp(executable, settings.collector) != 0 && isWanted(executable) && findCopy(executable, true, copy))
    execute(copy.c_str(), sanitized);
  if (sanitized) executeAlone();
}

}  // namespace traceback::inject::audit
