#include "runtime/collect/snap/recover.h"

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

#include "runtime/collect/files/file_rights.h"
#include "runtime/collect/files/former_root.h"
#include "runtime/collect/files/liveness.h"
#include "runtime/collect/files/private_folder.h"
#include "runtime/collect/files/process_folder.h"
#include "runtime/collect/files/ring_folder.h"
#include "runtime/collect/keeping/fault_ledger.h"
#include "runtime/collect/keeping/retention.h"
#include "runtime/collect/rules/site_rules.h"
#include "runtime/collect/service/service_client.h"
#include "runtime/collect/snap/preparation.h"
#include "runtime/collect/snap/redaction.h"
#include "runtime/collect/snap/snap_assembly.h"
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
  if (isBeingPrepared(pid))
    return model::fail(std::format("process {} does not run yet: its files are being instrumented", pid));
  return model::fail(std::format("process {} is not being recorded; start it with `traceback run`", pid));
}

// Its folder was made by it, or by root, whose it was before. What lies at a path may be anybody's.
model::Result<OpenFolder> openFolderOf(pid_t pid, const fs::path& path) {
  auto folder = openProcessFolder(path);
  if (!folder || folder->owner == ::geteuid() || folder->owner == 0) return folder;
  const auto users = usersOf(pid);
  const auto isThis = [&](const NamedFolder& one) { return one.path == path && one.name.pid == pid; };
  if (!std::ranges::contains(users, folder->owner) && !std::ranges::any_of(foldersOfFormerRoot(), isThis))
    return model::fail(std::format("belongs to another user than process {}", pid), path.string());
  return folder;
}

// Writes with the rights that the place has.
model::Result<fs::path> writeTo(const SnapPlace& place, const SnapContents& contents,
                                const SnapLimits& limits) {
  const auto rights = FileRights::of(place.user);
  if (!rights) return std::unexpected(rights.error());
  auto snap = writeSnap(contents, place.folder);
  if (snap) keepWithin(place.folder, limits, *snap);
  if (!snap && place.user != ::geteuid())
    snap.error().message +=
        std::format("; it is written with the rights of user {}, but where --snap-dir says", place.user);
  return snap;
}

SnapPlace placeFor(const fs::path& asked, const ProcessFolder& folder) {
  return snapPlaceFor(asked, folder.rootsSnaps, folder.owner, folder.header);
}

// The memory that is to be kept, while the process stands still.
ProcessMemory memoryOf(pid_t pid, const SnapContents& contents, format::KeptMemory kept) {
  const format::ProcessHeader& process = contents.folder.header;
  const bool withoutStacks = (contents.redaction & kRedactStacks) != 0;
  std::vector<std::uint64_t> stackPointers;
  for (const ThreadSnapshot& thread : contents.threads) {
    const bool atFault =
        process.faultSignal != 0 && process.faultTid == static_cast<std::uint32_t>(thread.tid);
    if (atFault) stackPointers.push_back(process.faultRegisters[offsetof(user_regs_struct, rsp) / 8]);
    // What it stands on now is the runtime's.
    if (thread.hasRegisters && (!atFault || withoutStacks)) stackPointers.push_back(thread.registers.rsp);
  }
  const auto mappings = format::parseMappings(contents.maps);
  return readMemory(pid, {.kept = kept,
                          .mappings = mappings,
                          .stackPointers = stackPointers,
                          .ownFolder = contents.folder.path.string(),
                          .withoutStacks = withoutStacks});
}

format::KeptMemory keptOf(const ProcessFolder& folder, std::optional<format::KeptMemory> asked) {
  return asked.value_or(static_cast<format::KeptMemory>(folder.header.keptMemory));
}

// What is not to be in the snap of what the process file keeps of the process's memory.
void leaveOut(pid_t pid, format::KeptMemory kept, SnapContents& contents) {
  if (kept == format::KeptMemory::None) contents.folder.thrown.clear();
  redactMessages(pid, contents.redaction, contents.folder);
}

model::Result<SnapContents> readLiving(pid_t pid, const fs::path& folderPath,
                                       std::optional<format::KeptMemory> kept) {
  auto stopped = StoppedProcess::stop(pid);
  if (!stopped) return std::unexpected(stopped.error());
  const auto opened = openFolderOf(pid, folderPath);
  if (!opened) return std::unexpected(opened.error());
  auto folder = readProcessFolder(*opened);
  if (!folder) return std::unexpected(folder.error());
  SnapContents contents;
  contents.folder = std::move(*folder);
  contents.threads = stopped->threads();
  contents.livingProcess = pid;
  contents.redaction = siteRules().redaction;
  if (const auto maps = readWhole(std::format("/proc/{}/maps", pid))) contents.maps = textOf(*maps);
  const format::ProcessHeader& process = contents.folder.header;
  const auto keeps = keptOf(contents.folder, kept);
  contents.memory = memoryOf(pid, contents, keeps);
  if (contents.redaction != 0) redactMemory(pid, contents.redaction, contents.maps, contents.memory);
  leaveOut(pid, keeps, contents);
  if (process.faultSignal != 0)
    for (ThreadSnapshot& thread : contents.threads)
      if (process.faultTid == static_cast<std::uint32_t>(thread.tid))
        thread.extendedRegisters = readSignalRegisters(pid, process.faultExtendedRegisters);
  setTime(contents);
  return contents;
}

// As readLiving(), or if the process may not be stopped (a debugger has it, it is not dumpable) without
// registers: the thread at fault waits for us anyway, and the others' rings are read as they run.
model::Result<SnapContents> readIfNeedBeRunning(pid_t pid, const fs::path& folderPath,
                                                std::optional<format::KeptMemory> kept) {
  auto contents = readLiving(pid, folderPath, kept);
  if (contents) return contents;
  const auto opened = openFolderOf(pid, folderPath);
  if (!opened) return contents;
  auto folder = readProcessFolder(*opened);
  if (!folder) return contents;
  SnapContents rings;
  rings.folder = std::move(*folder);
  rings.note = contents.error().text();
  rings.redaction = siteRules().redaction;
  leaveOut(pid, keptOf(rings.folder, kept), rings);
  if (const auto maps = readWhole(std::format("/proc/{}/maps", pid))) rings.maps = textOf(*maps);
  setTime(rings);
  return rings;
}

bool isNew(std::uint64_t key, const SnapPlace& place, const SiteRules& rules) {
  const auto rights = FileRights::of(place.user);
  return rights &&
         isNewFault(place.folder, key, rules.faultCount, static_cast<std::uint64_t>(rules.faultTime.count()));
}

void note(std::uint64_t key, const SnapPlace& place) {
  if (const auto rights = FileRights::of(place.user)) noteFault(place.folder, key);
}

// What is left of one process. Nothing if there was nothing to make a snap of, or others are at it.
model::Result<std::vector<fs::path>> recoverOne(const fs::path& path, const RecoverOptions& options,
                                                bool isFormerRoots = false) {
  const auto name = parseProcessName(path.filename().string());
  if (!name) return model::fail("not the folder of a process", path.string());
  if (mayRun(path, *name)) return std::vector<fs::path>{};

  const auto opened = openProcessFolder(path);
  std::error_code gone;
  if (!opened && !fs::exists(path, gone)) return std::vector<fs::path>{};  // others were quicker
  if (!opened) return std::unexpected(opened.error());
  if (::flock(opened->file.descriptor(), LOCK_EX | LOCK_NB) != 0) return std::vector<fs::path>{};

  auto folder = readProcessFolder(*opened);
  if (!folder) {
    // A process that died before it wrote anything, or could not.
    if (wasNeverWritten(*opened)) return removeFolder(*opened), std::vector<fs::path>{};
    const auto rights = FileRights::of(opened->owner);
    if (rights && ::rmdir(path.c_str()) == 0) return std::vector<fs::path>{};
    return std::unexpected(folder.error());
  }
  const auto state = static_cast<format::ProcessState>(folder->header.state);
  if (state == format::ProcessState::Exited || state == format::ProcessState::Snapped ||
      folder->rings.empty())
    return removeFolder(*opened), std::vector<fs::path>{};

  SnapContents contents;
  contents.folder = std::move(*folder);
  contents.reason = reasonOf(contents.folder.header);
  const SiteRules rules = siteRules();
  contents.redaction = rules.redaction;
  redactMessages(std::nullopt, rules.redaction, contents.folder);
  contents.group = options.group;
  setTime(contents);
  // Where root's snaps go, that user could not write.
  const SnapPlace place = isFormerRoots && options.snapFolder.empty()
                              ? SnapPlace{defaultSnapFolder(), ::geteuid()}
                              : placeFor(options.snapFolder, contents.folder);
  const bool counted = options.countFaults && rules.faultTime.count() != 0;
  const std::uint64_t key = counted ? faultKey(contents.folder, {}) : 0;
  if (counted && !isNew(key, place, rules)) return removeFolder(*opened), std::vector<fs::path>{};
  auto snap = writeTo(place, contents, options.limits);
  if (!snap) return std::unexpected(snap.error());
  if (counted) note(key, place);
  removeFolder(*opened);
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
  // The process runs on once this is back.
  auto contents = options.evenRunning ? readIfNeedBeRunning(pid, *folder, options.keptMemory)
                                      : readLiving(pid, *folder, options.keptMemory);
  if (!contents) return std::unexpected(contents.error());
  contents->reason = options.reason;
  contents->occasionTid = options.occasionTid;
  contents->occasion = options.occasion;
  contents->group = options.group;
  return writeTo(placeFor(options.snapFolder, contents->folder), *contents, options.limits);
}

model::Result<std::optional<fs::path>> collectFault(pid_t pid, pid_t tid, const FaultOptions& options) {
  const SiteRules rules = siteRules();
  const bool counted = rules.faultTime.count() != 0;
  // The others of its group first, for they run on; but not if there may be no snap of this one.
  std::optional<GroupEvent> group;
  const auto announce = [&](const format::ProcessHeader& header) {
    group = announceBreakDown(options.processFolder, header,
                              snapFolderFor(options.snapFolder, options.processFolder, header),
                              reasonOf(header), rules);
  };
  if (const auto early = readProcessHeader(options.processFolder); early && !counted) announce(*early);
  auto contents = readIfNeedBeRunning(pid, options.processFolder, std::nullopt);
  if (!contents) return std::unexpected(contents.error());
  const format::ProcessHeader& process = contents->folder.header;
  if (process.pid != static_cast<std::uint32_t>(pid) || process.faultTid != static_cast<std::uint32_t>(tid))
    return model::fail(std::format("does not tell of a fault in thread {} of process {}", tid, pid),
                       (options.processFolder / "process").string());
  contents->reason = reasonOf(process);
  const SnapPlace place = placeFor(options.snapFolder, contents->folder);
  const std::uint64_t key = counted ? faultKey(contents->folder, contents->maps) : 0;
  std::optional<fs::path> result;
  if (!counted || isNew(key, place, rules)) {
    if (counted) announce(process);
    contents->group = group;
    auto snap = writeTo(place, *contents, options.limits);
    if (!snap) return std::unexpected(snap.error());
    if (counted) note(key, place);
    result = std::move(*snap);
  }
  markSnapped(options.processFolder);
  removeFolder(options.processFolder);
  return result;
}

Occasion occasionOf(std::string_view name) {
  if (name == "exception") return Occasion::Exception;
  if (name == "exit") return Occasion::Exit;
  if (name == "report") return Occasion::Report;
  return Occasion::Call;
}

std::string describe(Occasion occasion, const std::string& text) {
  switch (occasion) {
    case Occasion::Exception:
      return "threw " + text;
    case Occasion::Exit:
      return "exits with status " + text;
    case Occasion::Report:
      return "reported " + text;
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
  return writeTo(placeFor(options.snapFolder, contents->folder), *contents, options.limits);
}

model::Result<std::vector<fs::path>> recover(const RecoverOptions& options) {
  fs::path top = options.folder.empty() ? defaultRingFolder() : options.folder;
  if (!top.has_filename()) top = top.parent_path();  // a slash at the end
  if (parseProcessName(top.filename().string()) && isFolder(top)) {
    auto one = recoverOne(top, options);
    if (!one && options.onProblem) options.onProblem(one.error());
    return one;
  }
  std::error_code error;
  std::vector<NamedFolder> folders;
  // No ring folder: nothing was ever recorded there.
  if (!options.folder.empty() || fs::exists(top, error)) {
    // Where everybody may make folders, somebody else may have made this one.
    if (options.folder.empty())
      if (const auto isPrivate = checkPrivateFolder(top); !isPrivate)
        return std::unexpected(isPrivate.error());
    folders = listProcessFolders(top, error);
    if (error) return model::fail("cannot be listed: " + error.message(), top.string());
  }

  std::vector<fs::path> snaps;
  std::optional<model::Error> problem;
  const auto recoverAll = [&](std::vector<NamedFolder>& all, bool areFormerRoots) {
    std::ranges::sort(all, {}, &NamedFolder::path);
    for (const auto& [folder, name] : all) {
      auto one = recoverOne(folder, options, areFormerRoots);
      if (one) {
        snaps.insert(snaps.end(), one->begin(), one->end());
        continue;
      }
      if (options.onProblem) options.onProblem(one.error());
      if (!problem) problem = one.error();
    }
  };
  recoverAll(folders, false);
  if (options.folder.empty()) {
    folders = foldersOfFormerRoot();
    recoverAll(folders, true);
  }
  if (snaps.empty() && problem) return std::unexpected(*problem);
  return snaps;
}

bool wantsFault(const fs::path& processFolder, const fs::path& snapFolder) {
  const SiteRules rules = siteRules();
  if (rules.faultTime.count() == 0) return true;
  const auto opened = openProcessFolder(processFolder);
  if (!opened) return false;
  const auto folder = readProcessFolder(*opened);
  return folder && isNew(faultKey(*folder, {}), {snapFolder, ::geteuid()}, rules);
}

namespace {

bool hasEnded(const NamedFolder& folder) {
  const auto header = readProcessHeader(folder.path);
  return header && header->state == static_cast<std::uint32_t>(format::ProcessState::Exited) &&
         !mayRun(folder.path, folder.name);
}

}  // namespace

std::vector<fs::path> endedFolders(const fs::path& ringFolder) {
  std::vector<fs::path> ended;
  for (const NamedFolder& folder : processFoldersIn(ringFolder))
    if (hasEnded(folder)) ended.push_back(folder.path);
  return ended;
}

void removeEnded(const fs::path& ringFolder, const std::vector<fs::path>& kept) {
  for (const fs::path& folder : endedFolders(ringFolder))
    if (!std::ranges::contains(kept, folder)) removeFolder(folder);
  for (const NamedFolder& folder : foldersOfFormerRoot())
    if (hasEnded(folder)) removeFolder(folder.path);
}

}  // namespace traceback::collect
