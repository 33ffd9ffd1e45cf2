#include "runtime/inject/audit/copies.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "runtime/format/cache.h"
#include "runtime/inject/process/child.h"

namespace traceback::inject::audit {

namespace {

constinit std::uint64_t filtersAtStart = 0;

// What was to be used as it is for a passing reason stays so in this process: a file that is loaded as it
// is and as its copy would be loaded twice.
struct LoadedFile {
  std::uint64_t device, inode;
};
constinit LoadedFile keptAsTheyAre[1024];
constinit unsigned keptCount = 0;

std::size_t readWhole(const char* path, char* to, std::size_t size) {
  const long file = systemCall(__NR_openat, AT_FDCWD, asLong(path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (failed(file)) return 0;
  std::size_t used = 0;
  while (used + 1 < size) {
    const long got = systemCall(__NR_read, file, asLong(to + used), static_cast<long>(size - 1 - used));
    if (failed(got) || got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  systemCall(__NR_close, file);
  to[used] = 0;
  return used;
}

// The mode of the filters, and their number.
std::uint64_t filtersNow() {
  static constinit char text[4096];
  const std::size_t size = readWhole("/proc/self/status", text, sizeof text);
  constexpr char kName[] = "\nSeccomp";
  std::uint64_t result = 0;
  for (std::size_t i = 0; i + sizeof kName < size; ++i) {
    if (strncmp(text + i, kName, sizeof kName - 1) != 0) continue;
    while (text[i] != ':' && i < size) ++i;
    for (++i; i < size && text[i] != '\n'; ++i)
      if (text[i] >= '0' && text[i] <= '9') result = result * 10 + static_cast<std::uint64_t>(text[i] - '0');
    result *= 1000;
    --i;
  }
  return result;
}

}  // namespace

bool mayCallAnything() { return filtersNow() == filtersAtStart; }

namespace {

std::int64_t secondsNow() {
  struct timespec now{};
  systemCall(__NR_clock_gettime, CLOCK_REALTIME, asLong(&now));
  return now.tv_sec;
}

void setUsedNow(const char* path, const struct stat& status) {
  if (secondsNow() - status.st_mtim.tv_sec < static_cast<std::int64_t>(format::kTouchSeconds)) return;
  if (mayCallAnything()) systemCall(__NR_utimensat, AT_FDCWD, asLong(path), 0, 0);
}

enum class Known { Copy, AsItIs, Nothing };

// Reads an index entry. `copy` is set for Copy.
Known readEntry(const char* entry, LongPath& copy) {
  static constinit char line[4352];
  const std::size_t size = readWhole(entry, line, sizeof line);
  if (size == 0) return Known::Nothing;
  if (line[0] == '+') {
    copy.clear();
    copy.add(settings.cache).add("/objects/").add(line + 1);
    struct stat status{};
    if (!copy.good() || !readStatus(copy.c_str(), status) || !S_ISREG(status.st_mode)) return Known::Nothing;
    setUsedNow(copy.c_str(), status);
    return Known::Copy;
  }
  if (line[0] == '-') return Known::AsItIs;
  struct stat status{};
  if (!readStatus(entry, status)) return Known::Nothing;
  const std::int64_t age = secondsNow() - status.st_mtim.tv_sec;
  return age >= 0 && age < static_cast<std::int64_t>(format::kRetrySeconds) ? Known::AsItIs : Known::Nothing;
}

// Its environment is its own: with that of the program, the dynamic linker would treat it as the program.
void haveItMade(const char* file, bool program) {
  Text<40> slot;
  slot.add("--thread-slot=-").add(static_cast<std::uint64_t>(-std::int64_t{settings.threadSlot}));
  const char* arguments[10] = {settings.collector, "prepare", "--cache", settings.cache, slot.c_str()};
  unsigned count = 5;
  if (program) arguments[count++] = "--program";
  const auto isSet = [](const char* patterns) { return patterns != nullptr && *patterns != 0; };
  if (!isSet(settings.only) && !isSet(settings.exclude)) arguments[count++] = "--ahead";
  arguments[count++] = "--";
  arguments[count] = file;
  const SignalsBlocked blocked;
  runChild({.program = settings.collector,
            .arguments = arguments,
            .environment = settings.forInstrumentor,
            .silent = false,
            .mostMilliseconds = 0});
}

bool isKeptAsItIs(const struct stat& status) {
  for (unsigned i = 0; i < keptCount; ++i)
    if (keptAsTheyAre[i].device == status.st_dev && keptAsTheyAre[i].inode == status.st_ino) return true;
  return false;
}

void keepAsItIs(const struct stat& status) {
  if (keptCount < sizeof keptAsTheyAre / sizeof *keptAsTheyAre)
    keptAsTheyAre[keptCount++] = {status.st_dev, status.st_ino};
}

}  // namespace

void noteFilters() { filtersAtStart = filtersNow(); }

bool findCopy(const char* file, bool program, LongPath& copy) {
  struct stat status{};
  if (!readStatus(file, status) || !S_ISREG(status.st_mode) || isKeptAsItIs(status)) return false;
  char name[format::kIndexNameSize];
  format::indexName(format::identityOf(status, program ? file : nullptr, settings.threadSlot), name);
  static constinit LongPath entry;
  entry.clear();
  entry.add(settings.cache).add("/index/").add(name);
  if (!entry.good()) return false;
  Known known = readEntry(entry.c_str(), copy);
  if (known == Known::Nothing && mayCallAnything()) {
    haveItMade(file, program);
    known = readEntry(entry.c_str(), copy);
  }
  if (known != Known::Copy) keepAsItIs(status);
  return known == Known::Copy;
}

}  // namespace traceback::inject::audit
