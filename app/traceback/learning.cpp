#include "app/traceback/learning.h"

#include <csignal>
#include <limits>
#include <vector>

#include "app/traceback/output.h"
#include "app/traceback/own_interrupts.h"
#include "app/traceback/profile_files.h"
#include "app/traceback/temporary_folder.h"
#include "loader/profile/count_branches.h"
#include "runtime/collect/keeping/learned.h"
#include "runtime/collect/snap/recover.h"

namespace traceback::app {

namespace fs = std::filesystem;
using model::BranchProfile;

namespace {

// Of a process, or a module, that ran less than that too much would be taken for what never runs.
constexpr std::uint64_t kLeastOfProcess = 200'000, kLeastOfModule = 20'000;
// Of copies: to read their maps takes half a second or so.
constexpr std::uint64_t kBytesOfSmall = std::uint64_t{64} << 20;

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
bool learnFrom(const std::vector<fs::path>& folders, const fs::path& profiles, Learn which,
               const OwnInterrupts& interrupts) {
  const auto snaps = TemporaryFolder::make("traceback-learned-");
  if (!snaps) return false;
  ProgressLine progress("learning from earlier runs");
  BranchProfile profile;
  const bool all = which == Learn::OfAll;
  const std::uint64_t mostBytes = all ? std::numeric_limits<std::uint64_t>::max() : kBytesOfSmall;
  bool someAreLeft = false;
  for (std::size_t i = 0; i < folders.size() && interrupts.noted() == 0; ++i) {
    if (const auto taken = collect::takeLearned(folders[i], snaps->path(), mostBytes); taken && *taken)
      add(**taken, profile);
    else if (taken)
      someAreLeft = true;
    progress.show(static_cast<double>(i + 1) / static_cast<double>(folders.size()));
  }
  const BranchProfile learned = withoutRarelyUsed(profile);
  if (!learned.modules().empty()) [[maybe_unused]]
    const auto kept = keepProfiles(profiles, learned, Renewal::WhenGrown);
  return someAreLeft;
}

}  // namespace

bool learnFromEarlierRuns(const fs::path& profiles, Learn which) {
  const auto folders = collect::learnedFolders(collect::defaultRingFolder());
  if (folders.empty()) return false;
  bool someAreLeft = false;
  int signal = 0;
  {
    // Before there is a folder, which would stay.
    const OwnInterrupts interrupts(heeded({SIGINT, SIGTERM, SIGHUP}));
    someAreLeft = learnFrom(folders, profiles, which, interrupts);
    signal = interrupts.noted();
  }
  if (signal != 0) std::raise(signal);
  return someAreLeft;
}

}  // namespace traceback::app
