#include "app/traceback/learning.h"

#include <csignal>
#include <vector>

#include "app/traceback/own_interrupts.h"
#include "app/traceback/profile_files.h"
#include "app/traceback/temporary_folder.h"
#include "loader/profile/count_branches.h"
#include "runtime/collect/files/default_folders.h"
#include "runtime/collect/keeping/learned.h"

namespace traceback::app {

namespace fs = std::filesystem;
using model::BranchProfile;

namespace {

// Of a process, or a module, that ran less than that too much would be taken for what never runs.
constexpr std::uint64_t kLeastOfProcess = 200'000, kLeastOfModule = 20'000;

void add(const fs::path& snap, BranchProfile& profile) {
  BranchProfile one;
  const auto counted = loader::countBranches(snap, one);
  if (!counted || counted->records < kLeastOfProcess) return;
  for (const auto& [buildId, blocks] : one.modules()) profile.add(one, buildId);
}

BranchProfile withoutRarelyUsed(const BranchProfile& profile) {
  BranchProfile kept;
  for (const auto& [buildId, blocks] : profile.modules()) {
    if (profile.recordsOf(buildId) >= kLeastOfModule)
      kept.add(profile, buildId);
    else
      kept.addProgram(buildId, profile.programRecordsOf(buildId));
  }
  return kept;
}

// An interrupt leaves the rest to the next run.
void learnFrom(const std::vector<fs::path>& folders, const fs::path& profiles,
               const OwnInterrupts& interrupts) {
  const auto snaps = TemporaryFolder::make("traceback-learned-");
  if (!snaps) return;
  BranchProfile profile;
  for (const fs::path& folder : folders) {
    if (interrupts.noted() != 0) break;
    if (const auto taken = collect::takeLearned(folder, snaps->path())) add(*taken, profile);
  }
  const BranchProfile learned = withoutRarelyUsed(profile);
  if (!learned.modules().empty()) [[maybe_unused]]
    const auto kept = keepProfiles(profiles, learned, Renewal::WhenGrown);
}

std::vector<fs::path> foldersToLearnFrom() { return collect::learnedFolders(collect::defaultRingFolder()); }

}  // namespace

bool isSomethingToLearnFrom() { return !foldersToLearnFrom().empty(); }

void learnFromEarlierRuns(const fs::path& profiles) {
  const auto folders = foldersToLearnFrom();
  if (folders.empty()) return;
  int signal = 0;
  {
    // Before there is a folder, which would stay.
    const OwnInterrupts interrupts(heeded({SIGINT, SIGTERM, SIGHUP}));
    learnFrom(folders, profiles, interrupts);
    signal = interrupts.noted();
  }
  if (signal != 0) std::raise(signal);
}

}  // namespace traceback::app
