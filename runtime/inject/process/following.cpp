#include "runtime/inject/process/following.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/inject/kernel/system.h"
#include "runtime/inject/process/process.h"

namespace traceback::inject {

namespace {

// Frames of the program may be small.
constexpr std::size_t kMostRoom = 256 << 10;

enum class Kind { Whole, FirstOfList, LastOfList };

struct Kept {
  const char* text;      // NAME=value
  std::size_t nameSize;  // with the '='
  Kind kind;
};
constinit Kept kept[16];
constinit unsigned keptCount = 0;
constinit char pool[16384];
constinit std::size_t poolUsed = 0;
constinit bool complete = true;
constinit bool reachableBefore = true;  // as the process began to filter its system calls

const char* valueIn(const char* entry, const Kept& variable) {
  return strncmp(entry, variable.text, variable.nameSize) == 0 ? entry + variable.nameSize : nullptr;
}

// NAME=value, or what is before it and it.
void keep(const char* first, const char* second, Kind kind) {
  const std::size_t size = strlen(first) + strlen(second) + 1;
  if (keptCount == sizeof kept / sizeof *kept || size > sizeof pool - poolUsed) {
    complete = false;
    return;
  }
  char* const to = pool + poolUsed;
  memcpy(to, first, strlen(first));
  memcpy(to + strlen(first), second, strlen(second) + 1);
  poolUsed += size;
  std::size_t nameSize = 0;
  while (to[nameSize++] != '=') {
  }
  kept[keptCount++] = {to, nameSize, kind};
}

// Whether `part` stands in a list divided by colons or blanks.
bool holds(const char* list, const char* part) {
  const std::size_t size = strlen(part);
  for (const char* at = list; *at != 0;) {
    const char* end = at;
    while (*end != 0 && *end != ':' && *end != ' ') ++end;
    if (static_cast<std::size_t>(end - at) == size && memcmp(at, part, size) == 0) return true;
    at = *end == 0 ? end : end + 1;
  }
  return false;
}

bool filesAreReachable() {
  if (process.sandboxed) return reachableBefore;
  for (unsigned i = 0; i < keptCount; ++i) {
    const char* value = kept[i].text + kept[i].nameSize;
    if (value[0] == '/' && failed(systemCall(__NR_access, asLong(value), R_OK))) return false;
  }
  return true;
}

bool isToBeFollowed(Strings environment) {
  if (keptCount == 0 || !complete || !filesAreReachable()) return false;
  for (Strings entry = environment; entry != nullptr && *entry != nullptr; ++entry)
    if (strcmp(*entry, "TRACEBACK=off") == 0 || strncmp(*entry, "LD_TRACE_LOADED_OBJECTS=", 24) == 0)
      return false;
  return true;
}

char* append(char* to, const char* text) {
  const std::size_t size = strlen(text);
  memcpy(to, text, size);
  return to + size;
}

// "${NAME:+:${NAME}}", say: what the shell's environment has of the list, if anything, with a colon.
char* appendTheirs(char* to, const Kept& variable, const char* before, const char* behind) {
  const std::size_t size = variable.nameSize - 1;
  to = append(to, "\"${");
  memcpy(to, variable.text, size);
  to = append(append(append(to + size, ":+"), before), "${");
  memcpy(to, variable.text, size);
  return append(append(append(to + size, "}"), behind), "}\"");
}

}  // namespace

void keepForChildren(const char* entry) { keep(entry, "", Kind::Whole); }
void keepListForChildren(const char* name, const char* ours, PlaceInList place) {
  Text<64> start;
  start.add(name).add("=");
  keep(start.c_str(), ours, place == PlaceInList::First ? Kind::FirstOfList : Kind::LastOfList);
}

void forgetChildren() { keptCount = 0; }
void noteReach() { reachableBefore = filesAreReachable(); }

// A name without a slash is looked for in PATH; what cannot be read is found out by executing it.
bool mayFollow(const char* path) {
  if (keptCount == 0 || process.sandboxed || path == nullptr || path[0] == 0) return true;
  const char* slash = path;
  while (*slash != 0 && *slash != '/') ++slash;
  struct stat status{};
  if (*slash == 0 || failed(systemCall(__NR_stat, asLong(path), asLong(&status))) || !S_ISREG(status.st_mode))
    return true;
  if ((status.st_mode & S_ISUID) != 0 || ((status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0))
    return false;
  const long file = systemCall(__NR_open, asLong(path), O_RDONLY | O_CLOEXEC);
  if (failed(file)) return true;
  alignas(8) char start[1024];
  const long size = systemCall(__NR_read, file, asLong(start), sizeof start);
  systemCall(__NR_close, file);
  Elf64_Ehdr header;
  if (size < static_cast<long>(sizeof header)) return true;
  memcpy(&header, start, sizeof header);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return true;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64) return false;
  const auto read = static_cast<std::uint64_t>(size);
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    const std::uint64_t at = header.e_phoff + i * sizeof segment;
    if (at > read || read - at < sizeof segment) return true;
    memcpy(&segment, start + at, sizeof segment);
    if (segment.p_type != PT_INTERP) continue;
    constexpr char kLinker[] = "/ld-linux-x86-64.so.2";
    if (segment.p_offset > read || read - segment.p_offset < segment.p_filesz ||
        segment.p_filesz < sizeof kLinker)
      return true;
    return memcmp(start + segment.p_offset + segment.p_filesz - sizeof kLinker, kLinker, sizeof kLinker) == 0;
  }
  return false;
}

std::size_t followedSize(Strings environment) {
  if (!isToBeFollowed(environment)) return 0;
  std::size_t size = (keptCount + 1) * sizeof(char*);
  for (Strings entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
    size += sizeof(char*);
    for (unsigned i = 0; i < keptCount; ++i)
      if (kept[i].kind != Kind::Whole && valueIn(*entry, kept[i]) != nullptr)
        size += strlen(kept[i].text) + strlen(*entry) + 2;
  }
  return size > kMostRoom ? 0 : size;
}

Strings followed(Strings environment, std::size_t size, void* room) {
  if (size == 0) return environment;
  auto** const array = static_cast<char**>(room);
  std::size_t count = 0;
  std::size_t entries = 0;
  for (Strings entry = environment; entry != nullptr && *entry != nullptr; ++entry) ++entries;
  auto* text = reinterpret_cast<char*>(array + entries + keptCount + 1);
  bool present[sizeof kept / sizeof *kept] = {};
  for (Strings entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
    char* passed = *entry;
    for (unsigned i = 0; i < keptCount; ++i) {
      const char* value = valueIn(passed, kept[i]);
      if (value == nullptr || present[i]) continue;
      present[i] = true;
      const char* const ours = kept[i].text + kept[i].nameSize;
      if (kept[i].kind == Kind::Whole || holds(value, ours)) break;
      passed = text;
      if (kept[i].kind == Kind::LastOfList && *value != 0) {
        text = append(append(append(text, *entry), ":"), ours);
      } else {
        text = append(text, kept[i].text);
        if (*value != 0) text = append(append(text, ":"), value);
      }
      *text++ = 0;
      break;
    }
    array[count++] = passed;
  }
  for (unsigned i = 0; i < keptCount; ++i)
    if (!present[i]) array[count++] = const_cast<char*>(kept[i].text);
  array[count] = nullptr;
  return array;
}

//   NAME='value' ... exec /bin/sh -c -- 'COMMAND' sh
// The second shell stands in the first's place, and knows itself by the same name.
Command followedCommand(const char* command) {
  if (command == nullptr || !isToBeFollowed(environ)) return {};
  constexpr char kShell[] = " exec /bin/sh -c -- '", kEnd[] = "' sh";
  constexpr std::size_t kMostText = 100'000;  // the kernel's limit of one argument is 131,072
  constexpr std::size_t kForQuote = 4;        // '\''
  std::size_t size = sizeof kShell + sizeof kEnd;
  for (const char* at = command; *at != 0; ++at) size += *at == '\'' ? kForQuote : 1;
  for (unsigned i = 0; i < keptCount; ++i) {
    size += 2 * strlen(kept[i].text) + 32;
    for (const char* at = kept[i].text; *at != 0; ++at)
      if (*at == '\'') return {};
  }
  if (size > kMostText) return {};
  const long mapped = systemCall(__NR_mmap, 0, static_cast<long>(size), PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (failed(mapped)) return {};
  auto* const text = reinterpret_cast<char*>(mapped);
  char* to = text;
  for (unsigned i = 0; i < keptCount; ++i) {
    const Kept& variable = kept[i];
    memcpy(to, variable.text, variable.nameSize);
    to += variable.nameSize;
    if (variable.kind == Kind::LastOfList) to = appendTheirs(to, variable, "", ":");
    to = append(append(append(to, "'"), variable.text + variable.nameSize), "'");
    if (variable.kind == Kind::FirstOfList) to = appendTheirs(to, variable, ":", "");
    *to++ = ' ';
  }
  to = append(to, kShell);
  for (const char* at = command; *at != 0; ++at) {
    if (*at == '\'')
      to = append(to, "'\\''");
    else
      *to++ = *at;
  }
  to = append(to, kEnd);
  *to = 0;
  return {text, size};
}

void giveBack(const Command& command) {
  if (command.text != nullptr) systemCall(__NR_munmap, asLong(command.text), static_cast<long>(command.size));
}

}  // namespace traceback::inject
