// The starter. See runtime/format/starter.h.
#include "runtime/format/starter.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "runtime/format/module.h"
#include "runtime/inject/kernel/system.h"
#include "runtime/inject/kernel/valgrind.h"
#include "runtime/inject/kernel/variables.h"

extern "C" [[gnu::visibility("hidden")]] const traceback::format::StarterHeader traceback_starter_header;

namespace traceback::inject {

namespace {

constexpr char kStarted[] = "TRACEBACK_STARTED";
constexpr char kPreload[] = "LD_PRELOAD";
constexpr std::size_t kNameSize = 16;  // of a process, with its zero (PR_GET_NAME)

using Entries = char**;

char* find(Entries environment, const char* name) {
  for (; *environment != nullptr; ++environment)
    if (char* value = valueOf(*environment, name)) return value;
  return nullptr;
}

void removeWithValue(Entries environment, const char* value) {
  Entries to = environment;
  for (Entries from = environment; *from != nullptr; ++from)
    if (value < *from || value > *from + strlen(*from)) *to++ = *from;
  *to = nullptr;
}

std::uint64_t auxiliary(Entries environment, std::uint64_t type) {
  while (*environment != nullptr) ++environment;
  for (const auto* entry = reinterpret_cast<const Elf64_auxv_t*>(environment + 1); entry->a_type != AT_NULL;
       ++entry)
    if (entry->a_type == type) return entry->a_un.a_val;
  return 0;
}

bool isBound() {
  const auto* header = &traceback_starter_header;
  const auto* slots = reinterpret_cast<const format::ModuleSlots*>(reinterpret_cast<std::int64_t>(header) +
                                                                   header->moduleSlots);
  return __atomic_load_n(&slots->bound, __ATOMIC_ACQUIRE) != 0;
}

// Whether the kernel would map it for execution: not from a file system that is mounted `noexec`.
bool canBeMapped(long file) {
  const long memory = systemCall(__NR_mmap, 0, kPage, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  if (failed(memory)) return false;
  systemCall(__NR_munmap, memory, kPage);
  return true;
}

bool tableFits(std::uint64_t offset, std::uint64_t size, std::uint64_t total) {
  return size <= total && offset <= total - size;
}

// A library for this machine, and all of it.
bool isLibrary(long file) {
  Elf64_Ehdr header{};
  struct stat status{};
  if (systemCall(__NR_read, file, asLong(&header), sizeof header) != sizeof header ||
      failed(systemCall(__NR_fstat, file, asLong(&status))))
    return false;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (!tableFits(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr), size) ||
      !tableFits(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr), size))
    return false;
  return memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
         header.e_machine == EM_X86_64 && header.e_type == ET_DYN;
}

// What the dynamic linker can be told to load, without a complaint: it splits the list at colons and spaces.
bool isUsable(const char* path) {
  if (path[0] != '/') return false;
  for (const char* at = path; *at != 0; ++at)
    if (*at == ':' || *at == ' ') return false;
  const long file = systemCall(__NR_open, asLong(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (failed(file)) return false;
  const bool usable = isLibrary(file) && canBeMapped(file);
  systemCall(__NR_close, file);
  return usable;
}

const char* runtimePath(Entries environment) {
  if (const char* value = find(environment, "TRACEBACK_RUNTIME"); value != nullptr && value[0] == '/')
    return value;
  return reinterpret_cast<const char*>(traceback_starter_header.runtime);
}

struct ProgramPath {
  char text[4096];
};

// By its own name, for that is what the process will be named after; by /proc if another file has that now.
bool findProgram(ProgramPath& path) {
  constexpr char kSelf[] = "/proc/self/exe";
  struct stat self{}, named{};
  if (failed(systemCall(__NR_stat, asLong(kSelf), asLong(&self)))) return false;
  const long size = systemCall(__NR_readlink, asLong(kSelf), asLong(path.text), sizeof path.text - 1);
  if (failed(size)) return false;
  path.text[size] = 0;
  if (failed(systemCall(__NR_stat, asLong(path.text), asLong(&named))) || named.st_dev != self.st_dev ||
      named.st_ino != self.st_ino)
    memcpy(path.text, kSelf, sizeof kSelf);
  return true;
}

char* write(char* to, const char* text) {
  const std::size_t size = strlen(text);
  memcpy(to, text, size + 1);
  return to + size;
}

// NAME=first[:second], at `to`; behind its end.
char* writeVariable(char* to, const char* name, const char* first, const char* second) {
  to = write(write(write(to, name), "="), first);
  if (second != nullptr) to = write(write(to, ":"), second);
  return to + 1;
}

// The second execution: everything is as it was, but that the runtime had its chance.
void finish(Entries environment, char* started) {
  char* name = started;
  while (*name != 0 && *name != ':') ++name;
  if (*name == ':') systemCall(__NR_prctl, PR_SET_NAME, asLong(name + 1));
  removeWithValue(environment, started);
  char* preload = find(environment, kPreload);
  if (preload != nullptr && !removeFromList(preload, runtimePath(environment)))
    removeWithValue(environment, preload);
}

bool isOwn(const char* started, std::uint64_t pid) {
  Text<24> text;
  text.add(pid).add(":");
  return strncmp(started, text.c_str(), text.size()) == 0;
}

// Comes back only if it could not be done; then nothing has changed.
void executeAgain(char** arguments, Entries environment, const char* runtime, std::uint64_t pid) {
  ProgramPath path;
  if (!findProgram(path)) return;
  char name[kNameSize] = {};
  systemCall(__NR_prctl, PR_GET_NAME, asLong(name));
  Text<24> number;
  number.add(pid);

  const char* preload = find(environment, kPreload);
  if (preload != nullptr && *preload == 0) preload = nullptr;
  std::size_t count = 0;
  while (environment[count] != nullptr) ++count;
  const std::size_t entries = (count + 3) * sizeof(char*);
  const std::size_t texts =
      sizeof kPreload + strlen(runtime) + (preload == nullptr ? 0 : strlen(preload)) + sizeof kStarted + 64;
  const long memory = systemCall(__NR_mmap, 0, static_cast<long>(entries + texts), PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (failed(memory)) return;
  auto to = reinterpret_cast<Entries>(memory);
  char* text = reinterpret_cast<char*>(memory) + entries;
  *to++ = text;
  // Behind the user's, which then find it as they would find libc.
  text = preload == nullptr ? writeVariable(text, kPreload, runtime, nullptr)
                            : writeVariable(text, kPreload, preload, runtime);
  *to++ = text;
  writeVariable(text, kStarted, number.c_str(), name);
  for (; *environment != nullptr; ++environment)
    if (valueOf(*environment, kPreload) == nullptr && valueOf(*environment, kStarted) == nullptr)
      *to++ = *environment;
  *to = nullptr;
  systemCall(__NR_execve, asLong(path.text), asLong(arguments), memory);
  systemCall(__NR_munmap, memory, static_cast<long>(entries + texts));
}

}  // namespace

extern "C" [[gnu::visibility("hidden")]] void traceback_start(int, char** arguments, Entries environment) {
  const auto pid = static_cast<std::uint64_t>(systemCall(__NR_getpid));
  if (char* started = find(environment, kStarted); started != nullptr && isOwn(started, pid))
    return finish(environment, started);
  if (isBound() || auxiliary(environment, AT_SECURE) != 0) return;
  // The dynamic linker itself was executed, with the program as an argument: /proc would name the linker.
  if (auxiliary(environment, AT_BASE) == 0) return;
  // It was opened later, and is not the program.
  if (auxiliary(environment, AT_ENTRY) != reinterpret_cast<std::uint64_t>(&traceback_starter_header) +
                                              static_cast<std::uint64_t>(traceback_starter_header.entry))
    return;
  const char* setting = find(environment, "TRACEBACK");
  if (setting != nullptr && strcmp(setting, "off") == 0) return;
  const char* runtime = runtimePath(environment);
  if (!isUsable(runtime) || inValgrind()) return;
  executeAgain(arguments, environment, runtime, pid);
}

}  // namespace traceback::inject
