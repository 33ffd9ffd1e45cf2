#include "loader/profile/count_branches.h"

#include <unordered_map>

#include "loader/reconstruct/path.h"
#include "loader/reconstruct/snap_modules.h"
#include "loader/reconstruct/snap_threads.h"
#include "loader/snap/snap_contents.h"
#include "runtime/format/record.h"

namespace traceback::loader {

namespace {

using Times = std::unordered_map<format::Word, std::uint64_t>;

void countWords(const SegmentWords& segment, Times& times) {
  format::Word newest = format::kInvalidWord;
  WordWindow words(segment);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const format::Word word = words[i];
    if (!format::isDagRecord(word)) continue;
    if (newest != format::kInvalidWord) ++times[newest];
    newest = word;
  }
}

Times timesOfRecords(std::vector<RecordedThread>& threads, BranchCounting& counting) {
  Times times;
  for (RecordedThread& thread : threads) {
    if (!thread.ring) continue;
    thread.ring->settleBeginnings();
    for (const SegmentWords& segment : thread.ring->segments()) countWords(segment, times);
    const HistoryView before = thread.ring->history();
    counting.uncounted += before.uncounted;
    for (const auto& count : before.counts) times[count.record] += count.times;
    for (const auto& entry : before.entries)
      for (const auto& count : entry.counts)
        if (count.record != 0) times[count.record] += count.times;
  }
  return times;
}

bool isTaken(const format::BlockEntry& block, std::uint32_t path) {
  const bool set = (path >> block.bit & 1) != 0;
  return set == ((block.flags & format::kBlockBitTaken) != 0);
}

// By address; put into the profile once all is counted, for a path is met in many words.
using Counts = std::unordered_map<std::uint32_t, model::BlockCounts>;

void addPath(const ResolvedDag& dag, const DagPath& path, std::uint64_t times, Counts& counts) {
  for (std::size_t i = 0; i < path.blocks.size(); ++i) {
    const auto& block = dag.map->block(path.blocks[i].function, path.blocks[i].block);
    const bool branches = block.end == format::BlockEnd::Branch && block.bit < format::kMaxPathBits;
    counts[block.start].add({.ran = times,
                             .branched = branches ? times : 0,
                             .taken = branches && isTaken(block, dag.path) ? times : 0,
                             .begun = i == 0 ? times : 0});
  }
}

}  // namespace

model::Result<BranchCounting> countBranches(const std::filesystem::path& file,
                                            model::BranchProfile& profile) {
  const auto snap = SnapReader::openFile(file);
  if (!snap) return std::unexpected(snap.error());
  model::LoadReport report;  // what is damaged is left out
  const SnapContents contents = readContents(*snap, report);
  LoadOptions options;
  options.useDebugInformation = false;
  const auto modules =
      findModules(*snap, contents, options, report, [](double, const std::string&) { return true; });
  auto threads = findThreads(*snap, contents, report);
  BranchCounting counting;
  DagPath path;
  std::unordered_map<const MapView*, Counts> counted;
  for (const auto& [word, times] : timesOfRecords(threads, counting)) {
    const auto dag = modules.table->resolve(word);
    if (!dag || dag->map == nullptr || dag->map->header().buildIdSize == 0 ||
        dag->map->header().version == 1) {
      counting.withoutMap += times;
      continue;
    }
    decodePath(*dag->map, dag->dag, dag->path, path);
    if (!path.explained) continue;
    counting.records += times;
    addPath(*dag, path, times, counted[dag->map]);
  }
  for (const auto& [map, counts] : counted) {
    const std::string buildId = map->buildId();
    for (const auto& [address, blocks] : counts) profile.add(buildId, address, blocks);
  }
  // The program itself, if it is traced, is bound before its libraries.
  if (modules.table->size() != 0)
    if (const auto* program = (*modules.table)[0].view(); program != nullptr)
      profile.addProgram(program->buildId(), counting.records);
  return counting;
}

}  // namespace traceback::loader
