#include "runtime/inject/audit/program.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <sys/stat.h>

#include <span>

#include "runtime/format/cache.h"
#include "runtime/inject/audit/copies.h"
#include "runtime/inject/audit/fixed_storage.h"
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
bool pathIsStillTrue() { return isSameFile(executable, "/proc/self/exe"); }

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

// The program once more, as if nothing of ours had been there; by the name that it was called by, if that is
// the program's still, for the kernel names the process by it.
void executeAlone() {
  const char* file = original != nullptr ? original : executable;
  if (const std::uint64_t* value = auxiliaryValue(AT_EXECFN)) {
    const auto* const name = reinterpret_cast<const char*>(*value);
    if (isSameFile(name, file)) file = name;
  }
  std::size_t used = 0;
  for (std::size_t i = 0; settings.environment[i] != nullptr; ++i) {
    char* const entry = settings.environment[i];
    for (const char* name : kLists)
      if (char* value = valueOf(entry, name)) removeOurs(value);
    if (!isOurs(entry)) settings.environment[used++] = entry;
  }
  settings.environment[used] = nullptr;
  systemCall(__NR_execve, asLong(file), asLong(settings.arguments), asLong(settings.environment));
}

// The program's headers; none if the kernel does not say where they are.
std::span<const Elf64_Phdr> segmentsOfProgram() {
  const std::uint64_t* const headers = auxiliaryValue(AT_PHDR);
  const std::uint64_t* const count = auxiliaryValue(AT_PHNUM);
  if (headers == nullptr || count == nullptr) return {};
  return {reinterpret_cast<const Elf64_Phdr*>(*headers), *count};
}

// What the program's dynamic section says.
class Dynamic {
 public:
  Dynamic() {
    const auto segments = segmentsOfProgram();
    for (const Elf64_Phdr& segment : segments)
      if (segment.p_type == PT_PHDR)
        m_bias = reinterpret_cast<std::uint64_t>(segments.data()) - segment.p_vaddr;
    for (const Elf64_Phdr& segment : segments)
      if (segment.p_type == PT_DYNAMIC)
        m_entries = reinterpret_cast<const Elf64_Dyn*>(m_bias + segment.p_vaddr);
    if (segments.empty()) return;
    m_strings = table<char>(DT_STRTAB);
  }

  // Whether it needs a library that fits.
  bool needs(const char* patterns) const {
    for (const auto* entry = m_entries; m_strings != nullptr && entry->d_tag != DT_NULL; ++entry)
      if (entry->d_tag == DT_NEEDED && matchesAny(patterns, m_strings + entry->d_un.d_val)) return true;
    return false;
  }

  // Whether it has a function of this name for others, by the table that all linkers make.
  bool defines(const char* name) const {
    const auto* hashes = table<std::uint32_t>(DT_GNU_HASH);
    const auto* symbols = table<Elf64_Sym>(DT_SYMTAB);
    if (hashes == nullptr || symbols == nullptr || m_strings == nullptr || hashes[0] == 0) return false;
    std::uint32_t hash = 5381;
    for (const char* at = name; *at != 0; ++at) hash = hash * 33 + static_cast<std::uint8_t>(*at);
    const std::uint32_t buckets = hashes[0], first = hashes[1], filterWords = hashes[2];
    const std::uint32_t* const bucket = hashes + 4 + 2 * std::uint64_t{filterWords};
    const std::uint32_t* const chain = bucket + buckets;
    std::uint32_t symbol = bucket[hash % buckets];
    if (symbol < first) return false;
    for (;; ++symbol) {
      const std::uint32_t here = chain[symbol - first];
      if ((here | 1) == (hash | 1) && symbols[symbol].st_shndx != SHN_UNDEF &&
          strcmp(m_strings + symbols[symbol].st_name, name) == 0)
        return true;
      if ((here & 1) != 0) return false;
    }
  }

 private:
  // The linker may have made an address of it already.
  template <typename T>
  const T* table(std::int64_t tag) const {
    for (const auto* entry = m_entries; entry != nullptr && entry->d_tag != DT_NULL; ++entry)
      if (entry->d_tag == tag)
        return reinterpret_cast<const T*>(entry->d_un.d_ptr < m_bias ? entry->d_un.d_ptr + m_bias
                                                                     : entry->d_un.d_ptr);
    return nullptr;
  }

  std::uint64_t m_bias = 0;
  const Elf64_Dyn* m_entries = nullptr;
  const char* m_strings = nullptr;
};

// Of a library: in memory its headers need not be where its addresses begin.
class FirstPage {
 public:
  explicit FirstPage(const char* path) {
    const long file = systemCall(__NR_openat, AT_FDCWD, asLong(path), O_RDONLY | O_CLOEXEC);
    if (failed(file)) return;
    const long size = systemCall(__NR_read, file, asLong(m_bytes), sizeof m_bytes);
    systemCall(__NR_close, file);
    const Elf64_Ehdr& header = *reinterpret_cast<const Elf64_Ehdr*>(m_bytes);
    if (size < static_cast<long>(sizeof header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return;
    const auto room = static_cast<std::uint64_t>(size);
    if (header.e_phoff % alignof(Elf64_Phdr) != 0 || header.e_phoff > room ||
        header.e_phnum > (room - header.e_phoff) / sizeof(Elf64_Phdr))
      return;
    m_segments = reinterpret_cast<const Elf64_Phdr*>(m_bytes + header.e_phoff);
    m_count = header.e_phnum;
  }
  // As far as they lie in it.
  const Elf64_Phdr* segments() const { return m_segments; }
  std::uint64_t segmentCount() const { return m_count; }

 private:
  alignas(Elf64_Ehdr) char m_bytes[4096];
  const Elf64_Phdr* m_segments = nullptr;
  std::uint64_t m_count = 0;
};

// As a library, or linked in: GCC's of threads hides its own names, but stands in front of these of libc's.
bool runsUnderSanitizer(const Dynamic& program) {
  for (const char* start : kLinkedSanitizers)
    if (program.defines(start)) return true;
  return program.needs(kSanitizers) ||
         (program.defines("pthread_create") && program.defines("sigaction") && program.defines("__close"));
}

// By a debugger, which counts how often what it starts is executed.
bool isTraced() {
  char text[1024];
  const long file = systemCall(__NR_openat, AT_FDCWD, asLong("/proc/self/status"), O_RDONLY | O_CLOEXEC);
  if (failed(file)) return false;
  const long size = systemCall(__NR_read, file, asLong(text), sizeof text - 1);
  systemCall(__NR_close, file);
  text[failed(size) ? 0 : size] = 0;
  constexpr char kKey[] = "\nTracerPid:\t";
  for (const char* at = text; *at != 0; ++at)
    if (strncmp(at, kKey, sizeof kKey - 1) == 0) return at[sizeof kKey - 1] != '0';
  return false;
}

void findThreadSlot() {
  for (const Elf64_Phdr& segment : segmentsOfProgram())
    if (segment.p_type == PT_TLS)
      settings.threadSlot = format::threadSlotBeside(segment.p_memsz, segment.p_align);
}

}  // namespace

const char* originalProgram() { return original; }

void considerProgram() {
  if (!readExecutable()) return;
  findThreadSlot();
  original = originalOf(executable);
  if (original != nullptr) return restoreNames();
  if (!pathIsStillTrue()) return;
  if (settings.threadSlot == 0) executeAlone();
  const Dynamic program;
  const bool sanitized = program.needs(kAddressSanitizer) || program.defines(kLinkedAddressSanitizer);
  if (runsUnderSanitizer(program) || (sanitized && settings.sanitized == nullptr)) executeAlone();
  static constinit LongPath copy;
  // What is traced is not copied either: a debugger would meet the process that makes the copy.
  if (strcmp(executable, settings.collector) != 0 && isWanted(executable) && !isTraced() &&
      findCopy(executable, true, copy))
    execute(copy.c_str(), sanitized);
  if (sanitized) executeAlone();
}

void considerLibrary(const link_map& library) {
  static constinit FixedStorage storage;
  static constinit bool hasStarted = false;
  if (!hasStarted) {
    const auto segments = segmentsOfProgram();
    storage.startWith(segments.data(), segments.size());
  }
  hasStarted = true;
  const char* const name = baseName(library.l_name);
  if (name == library.l_name || strcmp(name, "libtraceback.so") == 0) return;  // the kernel's, ours
  const FirstPage page(library.l_name);
  if (!storage.add(page.segments(), page.segmentCount(), hasFixedStorage(library.l_ld))) executeAlone();
}

}  // namespace traceback::inject::audit
