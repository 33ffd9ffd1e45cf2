#include "runtime/collect/snap/recover.h"

#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <format>

#include "runtime/collect/files/default_folders.h"
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
#include "runtime/collect/snap/living_process.h"
#include "runtime/collect/snap/redaction.h"
#include "runtime/collect/snap/snap_assembly.h"

namespace traceback::collect {

namespace {

namespace fs = std::filesystem;

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
  std::error_code error;
  if (parseProcessName(top.filename().string()) && fs::is_directory(top, error)) {
    auto one = recoverOne(top, options);
    if (!one && options.onProblem) options.onProblem(one.error());
    return one;
  }
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

}  // namespace traceback::collect
