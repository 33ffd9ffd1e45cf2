#include "runtime/inject/process/environment.h"

#include <elf.h>
#include <link.h>

#include "runtime/format/cache.h"
#include "runtime/format/history.h"
#include "runtime/inject/kernel/files.h"
#include "runtime/inject/kernel/system.h"
#include "runtime/inject/kernel/variables.h"
#include "runtime/inject/libc/libc.h"
#include "runtime/inject/process/following.h"

namespace traceback::inject {

namespace {

std::uint64_t parseSize(const char* text) {
  std::uint64_t size = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    size = size * 10 + static_cast<std::uint64_t>(*text - '0');
    if (size > std::uint64_t{1} << 40) return 0;
  }
  if (*text == 'K' || *text == 'k') size <<= 10;
  if (*text == 'M' || *text == 'm') size <<= 20;
  if (*text == 'G' || *text == 'g') size <<= 30;
  return size;
}

// Of a name that is not known nothing is kept: whoever gave one wanted less, or can be told when it is
// missed.
format::KeptMemory parseKeptMemory(const char* text) {
  for (std::uint32_t i = 0; i < sizeof format::kKeptMemoryNames / sizeof *format::kKeptMemoryNames; ++i)
    if (strcmp(text, format::kKeptMemoryNames[i]) == 0) return static_cast<format::KeptMemory>(i);
  return format::KeptMemory::None;
}

struct Self {
  std::uint64_t address;
  Path path;
};

int findSelf(dl_phdr_info* info, std::size_t, void* data) {
  auto& self = *static_cast<Self*>(data);
  for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const std::uint64_t start = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || self.address < start || self.address - start >= segment.p_memsz)
      continue;
    if (info->dlpi_name != nullptr) self.path.add(info->dlpi_name);
    return 1;
  }
  return 0;
}

void setCollector(Environment& environment, const Path& self) {
  // FOLDER/lib/libtraceback.so has its program in FOLDER/bin.
  if (environment.collector.empty()) addFolderOf(self, environment.collector).add("../bin/traceback");
}

std::uint64_t parseAddress(const char* text) {
  std::uint64_t address = 0;
  for (; *text != 0; ++text) {
    const char digit = *text;
    if (digit >= '0' && digit <= '9')
      address = address << 4 | static_cast<std::uint64_t>(digit - '0');
    else if (digit >= 'a' && digit <= 'f')
      address = address << 4 | static_cast<std::uint64_t>(digit - 'a' + 10);
    else
      return 0;
  }
  return address;
}

void setTelling(Environment& environment, char* value) {
  if (strcmp(value, format::kTellNever) == 0) {
    environment.telling = Telling::Never;
    return;
  }
  char* colon = value;
  while (*colon != 0 && *colon != ':') ++colon;
  if (*colon == 0) return;
  *colon = 0;
  environment.runErrorDevice = parseAddress(value);
  *colon = ':';
  environment.runErrorInode = parseAddress(colon + 1);
  environment.telling = Telling::WhereRunDid;
}

// What is of this process alone, its children do not get.
bool isForChildren(char* entry) {
  constexpr const char* kOwn[] = {"TRACEBACK_AUDIT", "TRACEBACK_EXEC", "TRACEBACK_PROGRAM"};
  for (const char* name : kOwn)
    if (valueOf(entry, name) != nullptr) return false;
  return strncmp(entry, "TRACEBACK_", 10) == 0;
}

// Between the array's end and the auxiliary vector, which whoever does not ask libc for it expects right
// behind (Go's runtime): entries that are to be ignored, if it is of pairs. Else zeroes: it looks empty, and
// who finds it so asks the kernel.
void fillGap(char** from, char** auxiliaryVector) {
  constexpr std::uintptr_t kIgnored = AT_IGNORE, kEnd = AT_NULL;
  const bool isOfPairs = (auxiliaryVector - from) % 2 == 0;
  for (bool isType = true; from != auxiliaryVector; ++from, isType = !isType)
    *from = reinterpret_cast<char*>(isOfPairs && isType ? kIgnored : kEnd);
}

}  // namespace

void takeEnvironment(char** entries, Environment& environment) {
  char** end = entries;
  while (*end != nullptr) ++end;
  for (const auto* aux = reinterpret_cast<const ElfW(auxv_t)*>(end + 1); aux->a_type != AT_NULL; ++aux)
    if (aux->a_type == AT_SECURE && aux->a_un.a_val != 0) environment.off = true;

  Self self{reinterpret_cast<std::uint64_t>(&takeEnvironment), {}};
  iterateObjects(findSelf, &self);

  Path audit;
  addFolderOf(self.path, audit).add("libtraceback-audit.so");
  bool follow = false;
  Telling userSays = Telling::OnTerminal;
  char** to = entries;
  for (char** from = entries; *from != nullptr; ++from) {
    bool keep = true;
    char* entry = *from;
    if (char* value = valueOf(entry, "TRACEBACK")) {
      if (strcmp(value, "off") == 0) environment.off = true;
      if (strcmp(value, "quiet") == 0) userSays = Telling::Never;
      if (strcmp(value, "tell") == 0) userSays = Telling::Always;
    } else if ((value = valueOf(entry, "TRACEBACK_SNAP_DIR"))) {
      environment.snapFolder.add(value);
      keep = false;
    } else if ((value = valueOf(entry, "TRACEBACK_TELL"))) {
      setTelling(environment, value);
      keep = false;
    } else if ((value = valueOf(entry, "TRACEBACK_BUFFER_SIZE"))) {
      environment.bufferSize = parseSize(value);
      keep = false;
    } else if ((value = valueOf(entry, "TRACEBACK_HISTORY"))) {
      environment.historyCounts = strcmp(value, "counts") == 0;
      environment.historySize = environment.historyCounts ? format::kCountingHistorySize : parseSize(value);
      environment.historySaid = environment.historySize != 0 || strcmp(value, "off") == 0;
      keep = false;
    } else if ((value = valueOf(entry, "TRACEBACK_LEARN"))) {
      environment.learns = strcmp(value, "1") == 0;
      keep = false;
    } else if ((value = valueOf(entry, "TRACEBACK_RINGS"))) {
      environment.mostRings = parseSize(value);
      keep = false;
    } else if ((value = valueOf(entry, "TRACEBACK_TOTAL_SIZE"))) {
      environment.mostBytes = parseSize(value);
      keep = false;
    } else if ((value = valueOf(entry, "TRACEBACK_MEMORY"))) {
      environment.keptMemory = parseKeptMemory(value);
      environment.keptMemorySaid = true;
      keep = false;
    } else if ((value = valueOf(entry, "TRACEBACK_COLLECTOR"))) {
      environment.collector.add(value);
      keep = false;
    } else if ((value = valueOf(entry, "TRACEBACK_CLOCK"))) {
      if (strcmp(value, "logical") == 0) environment.clock = Environment::Clock::Logical;
      if (strcmp(value, "tsc") == 0) environment.clock = Environment::Clock::Counter;
      keep = false;
    } else if ((value = valueOf(entry, "TRACEBACK_POLICY"))) {
      environment.policyFile.add(value);
      keep = false;
    } else if ((value = valueOf(entry, "TRACEBACK_PROGRAM"))) {
      environment.program.add(value);
      keep = false;
    } else if ((value = valueOf(entry, "TRACEBACK_CACHE"))) {
      environment.cache.add(value);
      keep = false;
      follow = true;
    } else if ((value = valueOf(entry, "TRACEBACK_AUDIT"))) {
      environment.bridge = parseAddress(value);
      keep = false;
    } else if (valueOf(entry, "TRACEBACK_ONLY") != nullptr ||
               valueOf(entry, "TRACEBACK_EXCLUDE") != nullptr ||
               valueOf(entry, "TRACEBACK_INSTRUMENT") != nullptr ||
               valueOf(entry, "TRACEBACK_SANITIZED") != nullptr ||
               valueOf(entry, "TRACEBACK_EXEC") != nullptr) {
      keep = false;
    } else if ((value = valueOf(entry, format::kSanitizerOptions)) && from == entries) {
      keep = !endsWith(value, format::kAnyLinkOrder);  // the program's own comes behind it
    } else if ((value = valueOf(entry, "XDG_RUNTIME_DIR"))) {
      environment.runtimeFolder.add(value);
    } else if ((value = valueOf(entry, "XDG_CONFIG_HOME"))) {
      environment.configHome.add(value);
    } else if (valueOf(entry, "XDG_STATE_HOME") != nullptr) {
      environment.stateHome.add(entry);
    } else if (valueOf(entry, "HOME") != nullptr) {
      environment.home.add(entry);
    } else if ((value = valueOf(entry, "LD_PRELOAD"))) {
      keep = removeFromList(value, self.path.c_str());
    } else if ((value = valueOf(entry, "LD_AUDIT"))) {
      keep = removeFromList(value, audit.c_str());
    } else if ((value = valueOf(entry, "GLIBC_TUNABLES"))) {
      keep = removeFromList(value, format::kTunable);
    }
    if (!keep && isForChildren(entry)) keepForChildren(entry);
    if (keep) *to++ = entry;
  }
  *to = nullptr;
  fillGap(to + 1, end + 1);
  setCollector(environment, self.path);
  if (userSays != Telling::OnTerminal) environment.telling = userSays;
  if (!environment.cache.good()) environment.cache.clear();
  if (!follow || environment.cache.empty()) return forgetChildren();
  keepForChildren("TRACEBACK_AUDIT=0000000000000000");
  keepListForChildren("GLIBC_TUNABLES", format::kTunable, PlaceInList::First);
  // Behind the program's own, which then find it as they would find libc.
  keepListForChildren("LD_PRELOAD", self.path.c_str(), PlaceInList::Last);
  keepListForChildren("LD_AUDIT", audit.c_str(), PlaceInList::First);
}

}  // namespace traceback::inject
