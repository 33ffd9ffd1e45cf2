#include "runtime/collect/snap/living_process.h"

#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <format>

#include "runtime/collect/files/default_folders.h"
#include "runtime/collect/files/former_root.h"
#include "runtime/collect/files/liveness.h"
#include "runtime/collect/files/process_folder.h"
#include "runtime/collect/files/ring_folder.h"
#include "runtime/collect/rules/site_rules.h"
#include "runtime/collect/snap/preparation.h"
#include "runtime/collect/snap/redaction.h"
#include "runtime/format/clock.h"

namespace traceback::collect {

namespace fs = std::filesystem;

namespace {

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

}  // namespace

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
  std::error_code error;
  // In a container its path may read otherwise; but without a mapping it has executed another program.
  fs::path folder = (ringFolder.empty() ? defaultRingFolder() : ringFolder) / name;
  if (maps.find(mapped) != std::string::npos && fs::is_directory(folder, error)) return folder;
  if (isBeingPrepared(pid))
    return model::fail(std::format("process {} does not run yet: its files are being instrumented", pid));
  return model::fail(std::format("process {} is not being recorded; start it with `traceback run`", pid));
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

void setTime(SnapContents& contents) {
  struct timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  contents.realtimeNs =
      static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
  const format::ProcessClock& clock = format::clockIn(contents.folder.header);
  const bool logical = clock.kind == static_cast<std::uint32_t>(format::ClockKind::Logical);
  contents.tsc = logical ? clock.logicalTime + 1 : __rdtsc();
}

}  // namespace traceback::collect
