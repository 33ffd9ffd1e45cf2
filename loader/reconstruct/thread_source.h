// A thread's entries, expanded from its records a chunk at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "loader/reconstruct/block_step.h"
#include "loader/reconstruct/walker.h"
#include "model/trace.h"

namespace traceback::loader {

// What the threads of a trace share. Filled while they are built, then immutable.
struct TraceContext {
  TraceContext(std::shared_ptr<const ModuleTable> table, std::vector<std::shared_ptr<const LineSource>> lines)
      : modules(std::move(table)), names(modules, std::move(lines)) {}

  const std::shared_ptr<const ModuleTable> modules;
  TraceNames names;
};

// Keeps, for every chunk of records, the state in which the walk came to it.
class ThreadSource : public model::EntrySource {
 public:
  static constexpr std::size_t kChunkRecords = 2048;

  // Walks the whole thread once, and keeps only summaries. `goOn`, called now and then with the share that
  // is done, may say no: then the result is null.
  static std::shared_ptr<const ThreadSource> build(const std::shared_ptr<TraceContext>& context,
                                                   std::vector<SegmentWords> segments, Timeline timeline,
                                                   WalkNotes& notes, const std::function<bool(double)>& goOn,
                                                   std::size_t chunkRecords = kChunkRecords);

  std::size_t chunkCount() const override { return m_checkpoints.size(); }
  model::ExpandedChunk expand(std::size_t chunk) const override;

  const std::vector<model::ChunkSummary>& chunks() const { return m_chunks; }
  std::optional<model::EntryIndex> fault() const { return m_fault; }
  const std::optional<model::Trace::Summary::HandledFault>& handledFault() const { return m_handledFault; }
  std::optional<model::EntryIndex> otherFault() const { return m_otherFault; }
  // An exception that nobody caught: then its entry is the fault.
  struct Uncaught {
    std::uint32_t type = 0;  // as in its entry's detail
    model::Ticks time;  // of its record
  };
  const std::optional<Uncaught>& uncaught() const { return m_uncaught; }
  // Its exceptions: what was thrown, and what was thrown again. Ascending by entry.
  struct Throw {
    model::EntryIndex entry = 0;
    std::uint32_t type = 0;  // as in its entry's detail
    model::Ticks time;  // in its record
    model::Ticks first = {};  // thrown again: that in the record of its throw; 0: not known
  };
  const std::vector<Throw>& throws() const { return m_throws; }
  const std::vector<Throw>& throwsAgain() const { return m_throwsAgain; }
  std::uint64_t recordCount() const { return m_recordCount; }
  const model::ThreadTimes& times() const { return m_times; }

  // The plain sequence of blocks, by a walk of its own.
  std::vector<BlockStep> executedBlocks() const;

 private:
  ThreadSource() = default;
  void moveFault(model::EntryIndex first, std::span<model::Entry> entries) const;

  std::shared_ptr<const TraceContext> m_context;
  ThreadInput m_input;
  std::size_t m_chunkRecords = kChunkRecords;
  std::vector<WalkState> m_checkpoints;
  std::vector<StackDifference> m_stacks;
  std::vector<model::ChunkSummary> m_chunks;
  std::int32_t m_depthShift = 0;  // added to the walk's depths, so that the outermost is 0
  std::optional<model::EntryIndex> m_fault, m_otherFault;
  std::optional<model::Trace::Summary::HandledFault> m_handledFault;
  std::optional<Uncaught> m_uncaught;
  std::optional<model::EntryIndex> m_abort;  // of an exception that nobody caught, where the signal came
  std::vector<Throw> m_throws, m_throwsAgain;
  std::uint64_t m_recordCount = 0;
  model::ThreadTimes m_times;
};

}  // namespace traceback::loader
