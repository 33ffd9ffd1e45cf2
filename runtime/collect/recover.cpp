#include "runtime/collect/recover.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <format>

#include "runtime/collect/process_folder.h"
#include "runtime/collect/retention.h"
#include "runtime/collect/snap_assembly.h"
#include "runtime/format/clock.h"

namespace traceback::collect {

namespace {

namespace fs = std::filesystem;

bool isFolder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

void setTime(SnapContents& contents) {
  struct timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  contents.realtimeNs =
      static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
  const format::ProcessClock& clock = format::clockIn(contents.folder.header);
  const bool logical = clock.kind == static_cast<std::uint32_t>(format::ClockKind::Logical);
  contents.tsc = logical ? clock.logicalTime + 1 : __rdtsc();
}

// The folder of a living process, found by the process file that it has mapped: wherever it put it.
model::Result<fs::path> folderOf(pid_t pid, const std::string& maps, const fs::path& ringFolder) {
  const auto start = startOfProcess(pid);
  if (!start) return model::fail(std::format("there is no process {}", pid));
  const std::string name = std::format("{}-{}", pid, *start);
  const std::string mapped = "/" + name + "/process";
  for (std::size_t at = 0; at < maps.size();) {
    const std::size_t end = std::min(maps.find('\n', at), maps.size());
    const std::string line = maps.substr(at, end - at);
    if (line.ends_with(mapped)) return fs::path(line.substr(line.find('/'))).parent_path();
    at = end + 1;
  }
  // In a container its path may read otherwise; but without a mapping it has executed another program.
  fs::path folder = (ringFolder.empty() ? defaultRingFolder() : ringFolder) / name;
  if (maps.find(mapped) != std::string::npos && isFolder(folder)) return folder;
  return model::fail(std::format("process {} is not being recorded; start it with `traceback run`", pid));
}

// The memory that is to be kept, while the process stands still.
ProcessMemory memoryOf(pid_t pid, const SnapContents& contents, format::KeptMemory kept) {
  const format::ProcessHeader& process = contents.folder.header;
  std::vector<std::uint64_t> stackPointers;
  for (const ThreadSnapshot& thread : contents.threads) {
    if (process.faultSignal != 0 && process.faultTid == static_cast<std::uint32_t>(thread.tid))
      stackPointers.push_back(process.faultRegisters[offsetof(user_regs_struct, rsp) / 8]);
    else if (thread.hasRegisters)
      stackPointers.push_back(thread.registers.rsp);
  }
  const auto mappings = format::parseMappings(contents.maps);
  return readMemory(pid, {.kept = kept,
                          .mappings = mappings,
                          .stackPointers = stackPointers,
                          .ownFolder = contents.folder.path.string()});
}

model::Result<SnapContents> readLiving(pid_t pid, const fs::path& folderPath,
                                       std::optional<format::KeptMemory> kept) {
  auto stopped = StoppedProcess::stop(pid);
  if (!stopped) return std::unexpected(stopped.error());
  auto folder = readProcessFolder(folderPath);
  if (!folder) return std::unexpected(folder.error());
  SnapContents contents;
  contents.folder = std::move(*folder);
  contents.threads = stopped->threads();
  contents.livingProcess = pid;
  if (const auto maps = readWhole(std::format("/proc/{}/maps", pid))) contents.maps = textOf(*maps);
  const format::ProcessHeader& process = contents.folder.header;
  contents.memory =
      memoryOf(pid, contents, kept.value_or(static_cast<format::KeptMemory>(process.keptMemory)));
  if (process.faultSignal != 0)
    for (ThreadSnapshot& thread : contents.threads)
      if (process.faultTid == static_cast<std::uint32_t>(thread.tid))
        thread.extendedRegisters = readSignalRegisters(pid, process.faultExtendedRegisters);
  setTime(contents);
  return contents;
}

// As readLiving(), or if the process may not be stopped (a debugger has it, it is not dumpable) without
// registers: the thread at fault waits for us anyway, and the others' rings are read as they run.
model::Result<SnapContents> readFaulting(pid_t pid, const fs::path& folderPath) {
  auto contents = readLiving(pid, folderPath, std::nullopt);
  if (contents) return contents;
  auto folder = readProcessFolder(folderPath);
  if (!folder) return contents;
  SnapContents rings;
  rings.folder = std::move(*folder);
  rings.note = contents.error().text();
  if (const auto maps = readWhole(std::format("/proc/{}/maps", pid))) rings.maps = textOf(*maps);
  setTime(rings);
  return rings;
}

void setState(const fs::path& folder, format::ProcessState state) {
  const SystemFile file(::open((folder / "process").c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  const auto value = static_cast<std::uint32_t>(state);
  if (file.isOpen()) [[maybe_unused]]
    const ssize_t done =
        ::pwrite(file.descriptor(), &value, sizeof value, offsetof(format::ProcessHeader, state));
}

// What is left of one process. Nothing if there was nothing to make a snap of, or others are at it.
model::Result<std::vector<fs::path>> recoverOne(const fs::path& path, const fs::path& snapFolder) {
  const auto name = parseProcessName(path.filename().string());
  if (!name) return model::fail("not the folder of a process", path.string());
  const auto start = startOfProcess(name->pid);
  if (start && *start == name->start) return std::vector<fs::path>{};

  const SystemFile lock(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!lock.isOpen()) return failWithErrno("cannot be opened", path);
  if (::flock(lock.descriptor(), LOCK_EX | LOCK_NB) != 0) return std::vector<fs::path>{};

  auto folder = readProcessFolder(path);
  if (!folder) {
    // A process that died before it wrote anything.
    std::error_code error;
    if (fs::is_empty(path, error)) return removeFolder(path), std::vector<fs::path>{};
    return std::unexpected(folder.error());
  }
  const auto state = static_cast<format::ProcessState>(folder->header.state);
  if (state == format::ProcessState::Exited || state == format::ProcessState::Snapped ||
      folder->rings.empty())
    return removeFolder(path), std::vector<fs::path>{};

  SnapContents contents;
  contents.folder = std::move(*folder);
  contents.reason = reasonOf(contents.folder.header);
  setTime(contents);
  auto snap = writeSnap(contents, snapFolderFor(snapFolder, contents.folder.header));
  if (!snap) return std::unexpected(snap.error());
  removeFolder(path);
  return std::vector<fs::path>{*snap};
}

}  // namespace

fs::path defaultSnapFolder() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return fs::path(state) / "traceback";
  const char* home = std::getenv("HOME");
  return fs::path(home != nullptr && *home == '/' ? home : "/") / ".local/state/traceback";
}

fs::path defaultRingFolder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime == '/' && isFolder(runtime)) return fs::path(runtime) / "traceback";
  return std::format("/dev/shm/traceback-{}", ::geteuid());
}

model::Result<fs::path> snapProcess(pid_t pid, const SnapOptions& options) {
  if (!startOfProcess(pid)) return model::fail(std::format("there is no process {}", pid));
  const auto maps = readWhole(std::format("/proc/{}/maps", pid));
  if (!maps) return std::unexpected(maps.error());
  const auto folder = folderOf(pid, textOf(*maps), options.ringFolder);
  if (!folder) return std::unexpected(folder.error());
  auto contents = readLiving(pid, *folder, options.keptMemory);  // the process runs on once this is back
  if (!contents) return std::unexpected(contents.error());
  contents->reason = options.reason;
  contents->occasionTid = options.occasionTid;
  contents->occasion = options.occasion;
  const fs::path snapFolder = snapFolderFor(options.snapFolder, contents->folder.header);
  auto snap = writeSnap(*contents, snapFolder);
  if (snap) keepWithin(snapFolder, options.limits, *snap);
  return snap;
}

model::Result<fs::path> collectFault(pid_t pid, pid_t tid, const FaultOptions& options) {
  auto contents = readFaulting(pid, options.processFolder);
  if (!contents) return std::unexpected(contents.error());
  const format::ProcessHeader& process = contents->folder.header;
  if (process.pid != static_cast<std::uint32_t>(pid) || process.faultTid != static_cast<std::uint32_t>(tid))
    return model::fail(std::format("does not tell of a fault in thread {} of process {}", tid, pid),
                       (options.processFolder / "process").string());
  contents->reason = reasonOf(process);
  const fs::path snapFolder = snapFolderFor(options.snapFolder, process);
  auto snap = writeSnap(*contents, snapFolder);
  if (!snap) return snap;
  keepWithin(snapFolder, options.limits, *snap);
  setState(options.processFolder, format::ProcessState::Snapped);
  removeFolder(options.processFolder);
  return snap;
}

std::string describe(Occasion occasion, const std::string& text) {
  switch (occasion) {
    case Occasion::Exception:
      return "threw " + text;
    case Occasion::Exit:
      return "exits with status " + text;
    default:
      return text.empty() ? "asked for a snap" : "asked for a snap: " + text;
  }
}

model::Result<fs::path> collectOccasion(pid_t pid, pid_t tid, const OccasionOptions& options) {
  auto contents = readLiving(pid, options.processFolder, std::nullopt);
  if (!contents) return std::unexpected(contents.error());
  if (contents->folder.header.pid != static_cast<std::uint32_t>(pid))
    return model::fail(std::format("is not of process {}", pid),
                       (options.processFolder / "process").string());
  contents->reason =
      options.occasion == Occasion::Call ? format::SnapReason::Api : format::SnapReason::Policy;
  contents->occasionTid = tid;
  contents->occasion = describe(options.occasion, options.text);
  const fs::path folder = snapFolderFor(options.snapFolder, contents->folder.header);
  auto snap = writeSnap(*contents, folder);
  if (snap) keepWithin(folder, options.limits, *snap);
  return snap;
}

model::Result<std::vector<fs::path>> recover(const RecoverOptions& options) {
  const fs::path top = options.folder.empty() ? defaultRingFolder() : options.folder;
  if (parseProcessName(top.filename().string()) && isFolder(top)) {
    auto one = recoverOne(top, options.snapFolder);
    if (!one && options.onProblem) options.onProblem(one.error());
    return one;
  }
  std::error_code error;
  // No ring folder: nothing was ever recorded.
  if (options.folder.empty() && !fs::exists(top, error)) return std::vector<fs::path>{};
  std::vector<fs::path> folders;
  for (fs::directory_iterator it(top, error), end; !error && it != end; it.increment(error))
    if (parseProcessName(it->path().filename().string())) folders.push_back(it->path());
  if (error) return model::fail("cannot be listed: " + error.message(), top.string());
  std::ranges::sort(folders);

  std::vector<fs::path> snaps;
  std::optional<model::Error> problem;
  for (const fs::path& folder : folders) {
    auto one = recoverOne(folder, options.snapFolder);
    if (one) {
      snaps.insert(snaps.end(), one->begin(), one->end());
      continue;
    }
    if (options.onProblem) options.onProblem(one.error());
    if (!problem) problem = one.error();
  }
  if (snaps.empty() && problem) return std::unexpected(*problem);
  return snaps;
}

void removeEnded(const fs::path& ringFolder) {
  std::error_code error;
  std::vector<fs::path> ended;
  for (fs::directory_iterator it(ringFolder, error), end; !error && it != end; it.increment(error)) {
    const auto name = parseProcessName(it->path().filename().string());
    if (!name) continue;
    const SystemFile file(::open((it->path() / "process").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    format::ProcessHeader header{};
    if (!file.isOpen() || ::read(file.descriptor(), &header, sizeof header) != sizeof header) continue;
    if (header.magic != format::kProcessMagic ||
        header.state != static_cast<std::uint32_t>(format::ProcessState::Exited))
      continue;
    const auto start = startOfProcess(name->pid);
    if (!start || *start != name->start) ended.push_back(it->path());
  }
  for (const fs::path& folder : ended) removeFolder(folder);
}

}  // namespace traceback::collect
