#include "runtime/inject/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "runtime/format/clock.h"
#include "runtime/inject/kernel/files.h"
#include "runtime/inject/kernel/system.h"
#include "runtime/inject/modules/modules.h"
#include "runtime/inject/process/learning.h"
#include "runtime/inject/rings/clock.h"
#include "runtime/inject/rings/ghost.h"
#include "runtime/inject/rings/hold.h"
#include "runtime/inject/rings/ring_table.h"
#include "runtime/inject/signals/actions.h"
#include "runtime/inject/signals/fault.h"
#include "runtime/inject/signals/own_fault.h"
#include "runtime/inject/snaps/thrown_texts.h"

namespace traceback::inject {

constinit Process process;

namespace {

constinit std::uint32_t* forkGuard = nullptr;
constinit format::ProcessModule modules[format::kMaxModules];
constinit unsigned modulesUsed = 0;

inline constexpr std::uint64_t kModulesAtStart = 16;  // what is allocated at once; the rest as it is needed

format::ProcessModule* fileModules() { return reinterpret_cast<format::ProcessModule*>(process.file + 1); }

// RINGS/PID-START, RINGS being made if it is missing.
bool makeFolder(const Path& rings, Path& folder) {
  struct stat status{};
  if (!rings.good()) return false;
  systemCall(__NR_mkdir, asLong(rings.c_str()), 0700);
  // Whoever may write there could forge or read rings: it must be ours alone, and no link.
  if (failed(systemCall(__NR_lstat, asLong(rings.c_str()), asLong(&status)))) return false;
  if (!S_ISDIR(status.st_mode) || (status.st_mode & 077) != 0 ||
      status.st_uid != static_cast<uid_t>(systemCall(__NR_geteuid)))
    return false;
  folder.clear();
  folder.add(rings.c_str()).add("/").add(std::uint64_t{process.pid}).add("-").add(process.start);
  if (!folder.good()) return false;
  const long made = systemCall(__NR_mkdir, asLong(folder.c_str()), 0700);
  // The name is taken only by this very process before it executed another program.
  if (made == -EEXIST) {
    const int stale = openFolder(folder.c_str());
    if (stale < 0) return false;
    emptyFolder(stale);
    systemCall(__NR_close, stale);
    return true;
  }
  return !failed(made);
}

// Whether the process ended by itself that left this folder.
bool hasExited(int folder) {
  const long file = systemCall(__NR_openat, folder, asLong("process"), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (failed(file)) return false;
  std::uint64_t magic = 0;
  std::uint32_t state = 0;
  systemCall(__NR_pread64, file, asLong(&magic), sizeof magic, offsetof(format::ProcessHeader, magic));
  systemCall(__NR_pread64, file, asLong(&state), sizeof state, offsetof(format::ProcessHeader, state));
  systemCall(__NR_close, file);
  return magic == format::kProcessMagic && state == static_cast<std::uint32_t>(format::ProcessState::Exited);
}

// By the name of its folder.
bool isProcess(const char* name) {
  std::int64_t pid = 0;
  for (; *name >= '0' && *name <= '9' && pid < INT32_MAX; ++name) pid = pid * 10 + (*name - '0');
  return systemCall(__NR_kill, pid, 0) != -ESRCH;
}

// What others left here that ended by themselves but could not remove it: of another user's that the same
// process had forked, or behind a filter. For as long as it forks nobody else may come by; each looks at a
// few. So many are kept, to be learned from.
void removeEndedBeside(const Path& ringFolder, unsigned kept) {
  const int all = openFolder(ringFolder.c_str());
  if (all < 0) return;
  unsigned looks = 32;
  forEachFile(all, [&](const char* name) {
    const bool isOfProcess = name[0] >= '0' && name[0] <= '9';
    if (!isOfProcess || looks == 0) return;
    --looks;
    const long one =
        systemCall(__NR_openat, all, asLong(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (failed(one)) return;
    if (hasExited(static_cast<int>(one)) && !isProcess(name) && (kept == 0 || kept-- == 0)) {
      emptyFolder(static_cast<int>(one));
      systemCall(__NR_unlinkat, all, asLong(name), AT_REMOVEDIR);
    }
    systemCall(__NR_close, one);
  });
  systemCall(__NR_close, all);
}

// The folder of the process's rings; in a forked child, the parent's until it has found its own.
constinit Path rings;

// First where it was before: a child in a user name space of its own has the same rights there, but does not
// know by what number.
bool findFolder(Path& folder) {
  if (!rings.empty() && makeFolder(rings, folder)) return true;
  const Path& runtime = process.environment.runtimeFolder;
  if (!runtime.empty() && runtime.c_str()[0] == '/' && isFolder(runtime.c_str())) {
    rings.clear();
    rings.add(runtime.c_str()).add("/traceback");
    if (makeFolder(rings, folder)) return true;  // it may be that of another user, whom this one was
  }
  rings.clear();
  const auto user = static_cast<std::uint32_t>(systemCall(__NR_geteuid));
  rings.add("/dev/shm/traceback-").add(std::uint64_t{user});
  if (makeFolder(rings, folder)) {
    if (user != process.startedBy) removeEndedBeside(rings, 0);
    return true;
  }
  rings.clear();
  folder.clear();
  return false;
}

// The same for forked children.
const char* bootId() {
  static constinit char text[sizeof format::ProcessHeader::bootId];
  if (text[0] == 0) readFile("/proc/sys/kernel/random/boot_id", text, sizeof text);
  for (char& byte : text)
    if (byte == '\n') byte = 0;
  return text;
}

bool fillHeader(format::ProcessHeader& header) {
  header.version = format::kProcessVersion;
  header.headerSize = sizeof header;
  header.pid = process.pid;
  header.processStart = process.start;
  header.pidNamespace = pidNamespaceInode();
  memcpy(header.bootId, bootId(), sizeof header.bootId);
  const bool logical = process.logicalClock = !counterIsTrusted();
  format::clockIn(header).kind =
      static_cast<std::uint32_t>(logical ? format::ClockKind::Logical : format::ClockKind::Counter);
  header.startTsc = logical ? 0 : timeStamp();  // none: a logical clock tells no time
  header.startRealtimeNs = realtimeNow();
  const Environment& environment = process.environment;
  memcpy(header.snapFolder, environment.snapFolder.c_str(), environment.snapFolder.size() + 1);
  memcpy(header.executable, environment.program.c_str(), environment.program.size() + 1);
  header.keptMemory = static_cast<std::uint32_t>(environment.keptMemory);
  header.learns = process.learning ? 1 : 0;
  header.startedBy = process.startedBy + 1;
  header.state = static_cast<std::uint32_t>(format::ProcessState::Running);
  __atomic_store_n(&header.magic, format::kProcessMagic, __ATOMIC_RELEASE);
  return true;
}

}  // namespace

std::uint32_t rawPid() { return static_cast<std::uint32_t>(systemCall(__NR_getpid)); }
std::uint32_t rawTid() { return static_cast<std::uint32_t>(systemCall(__NR_gettid)); }

std::uint64_t realtimeNow() {
  struct timespec now{};
  systemCall(__NR_clock_gettime, CLOCK_REALTIME, asLong(&now));
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

bool makeForkGuard() {
  const long page =
      systemCall(__NR_mmap, 0, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (failed(page)) return false;
  if (failed(systemCall(__NR_madvise, page, kPage, MADV_WIPEONFORK))) {
    systemCall(__NR_munmap, page, kPage);
    return false;
  }
  forkGuard = reinterpret_cast<std::uint32_t*>(page);
  *forkGuard = 1;
  return true;
}

bool inForkedChild() { return forkGuard != nullptr && __atomic_load_n(forkGuard, __ATOMIC_RELAXED) == 0; }
bool inOwnProcess() { return rawPid() == process.pid; }

void childStarted(bool betweenProbes) {
  SignalsBlocked blocked;
  if (!inForkedChild()) return;
  if (!process.sandboxed) {
    process.pid = rawPid();
    process.start = processStart();
  }
  ++process.generation;
  process.folder.clear();
  // Who reads /proc by the number of a child in a name space of its own finds another process there.
  process.folderFailed = !process.sandboxed && pidInProc() != process.pid;
  process.learned = 0;
  process.watched = false;
  process.watcher = 0;
  process.file = nullptr;  // it was mapped for the parent alone
  forgetThrownTexts();
  process.lock = Lock();
  forgetActionLock();
  forgetModuleLocks();
  forgetFault();
  forgetHolds();
  Thread& t = thread();
  if (t.ring != nullptr && (!betweenProbes || t.level != 0)) makeGhost(t);
  forgetRings();
  t.ring = nullptr;
  t.level = 0;
  t.gapPending = false;
  t.late = false;
  t.handlers = 0;
  t.sharers = 0;
  if (t.state != ThreadState::Ended) t.state = ThreadState::Probation;
  if (isThreadSlotInPlace(threadSlot))
    setSlot(&traceback_probation);  // else the program has something of its own there
  *forkGuard = 1;
}

namespace {

// Makes and maps the process file; over `place`, if that is not zero.
long mapProcessFile(std::uint64_t place) {
  const int folder = openProcessFolder();
  if (folder < 0) return -1;
  const long file = systemCall(__NR_openat, folder, asLong("process"),
                               O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (!process.environment.snapFolder.empty() && systemCall(__NR_geteuid) == 0)
    systemCall(__NR_symlinkat, asLong(process.environment.snapFolder.c_str()), folder,
               asLong(format::kSnapsLink));
  systemCall(__NR_close, folder);
  if (failed(file)) return -1;
  const std::uint64_t first = sizeof(format::ProcessHeader) + kModulesAtStart * sizeof(format::ProcessModule);
  long mapping = -1;
  if (mayMakeFile(kProcessFileSize) && !failed(systemCall(__NR_ftruncate, file, kProcessFileSize)) &&
      !failed(systemCall(__NR_fallocate, file, 0, 0, first)) &&
      (place == 0 ||
       (copyMapping(static_cast<int>(file), place, first) && copyThrownTexts(static_cast<int>(file)))))
    mapping = systemCall(__NR_mmap, static_cast<long>(place), kProcessFileSize, PROT_READ | PROT_WRITE,
                         MAP_SHARED | (place == 0 ? 0 : MAP_FIXED), file, 0);
  systemCall(__NR_close, file);
  if (failed(mapping)) return -1;
  systemCall(__NR_madvise, mapping, kProcessFileSize, MADV_DONTFORK);
  systemCall(__NR_madvise, mapping, kProcessFileSize, MADV_DONTDUMP);
  return mapping;
}

}  // namespace

bool openProcessFile() {
  if (process.file != nullptr) return leaveLostProcessFile(), true;
  if (process.folderFailed) return false;
  process.folderFailed = true;
  if (!findFolder(process.folder)) return false;
  const long mapping = mapProcessFile(0);
  if (failed(mapping)) return false;
  process.file = reinterpret_cast<format::ProcessHeader*>(mapping);
  fillHeader(*process.file);
  for (unsigned i = 0; i < modulesUsed; ++i) publishModule(i);
  process.folderFailed = false;
  return true;
}

void withdrawProcessFolder() {
  const int folder = openProcessFolder();
  if (folder < 0) return;
  emptyFolder(folder);
  systemCall(__NR_close, folder);
  systemCall(__NR_rmdir, asLong(process.folder.c_str()));
}

bool restoreProcessFolder() {
  if (failed(systemCall(__NR_mkdir, asLong(process.folder.c_str()), 0700))) return false;
  if (failed(mapProcessFile(reinterpret_cast<std::uint64_t>(process.file)))) return false;
  for (unsigned i = 0; i < modulesUsed; ++i) publishModule(i);
  return true;
}

void removeEndedNeighbours() {
  constexpr unsigned kKept = 2;
  if (!rings.empty()) removeEndedBeside(rings, kKept);
}

int openProcessFolder() { return process.folder.empty() ? -1 : openFolder(process.folder.c_str()); }

format::ProcessModule* moduleTable() { return modules; }
unsigned moduleCount() { return modulesUsed; }

bool appendModule(const format::ProcessModule& module) {
  if (modulesUsed == format::kMaxModules) return false;
  memcpy(&modules[modulesUsed], &module, sizeof module);
  __atomic_store_n(&modulesUsed, modulesUsed + 1, __ATOMIC_RELEASE);
  publishModule(modulesUsed - 1);
  return true;
}

void replaceModule(unsigned index, const format::ProcessModule& module) {
  modules[index].loadBias = module.loadBias;
  modules[index].start = module.start;
  modules[index].end = module.end;
  modules[index].unloaded = 0;
  publishModule(index);
}

void publishModule(unsigned index) {
  if (process.file == nullptr) return;
  leaveLostProcessFile();
  // Allocates the memory first: a write to a full file system would be a SIGBUS.
  if (index >= kModulesAtStart) {
    const auto start = reinterpret_cast<std::uint64_t>(&fileModules()[index]) & ~std::uint64_t{4095};
    if (failed(systemCall(__NR_madvise, static_cast<long>(start), kPage, MADV_POPULATE_WRITE))) return;
  }
  memcpy(&fileModules()[index], &modules[index], sizeof modules[index]);
  if (process.file->moduleCount <= index)
    __atomic_store_n(&process.file->moduleCount, index + 1, __ATOMIC_RELEASE);
}

void markUnloaded(unsigned index) {
  modules[index].unloaded = 1;
  leaveLostProcessFile();
  if (process.file != nullptr && index < process.file->moduleCount) fileModules()[index].unloaded = 1;
}

void removeProcessFolder() {
  if (process.file == nullptr || inForkedChild()) return;
  leaveLostProcessFile();
  if (process.sandboxed) {
    process.file->lastTsc = timeStamp();
    process.file->state = static_cast<std::uint32_t>(format::ProcessState::Exited);
    return;
  }
  if (!inOwnProcess()) return;
  Locked locked(process.lock);
  if (process.folder.empty()) return;
  process.file->lastTsc = timeStamp();
  process.file->lastRealtimeNs = realtimeNow();
  process.file->state = static_cast<std::uint32_t>(format::ProcessState::Exited);
  if (!leaveLearned()) withdrawProcessFolder();
  process.folder.clear();
  process.folderFailed = true;  // nothing is made any more
}

}  // namespace traceback::inject
