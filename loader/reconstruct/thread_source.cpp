#include "loader/reconstruct/thread_source.h"

#include <algorithm>
#include <climits>

#include "loader/reconstruct/uncaught_exception.h"

namespace traceback::loader {

namespace {

std::uint64_t wordsOf(const Timeline& timeline) {
  std::uint64_t words = 0;
  for (const auto& piece : timeline.pieces) words += piece.end - piece.begin;
  return words;
}

}  // namespace

std::shared_ptr<const ThreadSource> ThreadSource::build(const std::shared_ptr<TraceContext>& context,
                                                        std::vector<SegmentWords> segments, Timeline timeline,
                                                        WalkNotes& notes,
                                                        const std::function<bool(double)>& goOn,
                                                        std::size_t chunkRecords) {
  const std::shared_ptr<ThreadSource> source(new ThreadSource);
  source->m_context = context;
  source->m_chunkRecords = std::max<std::size_t>(chunkRecords, 1);
  source->m_input = {.modules = context->modules.get(),
                     .names = &context->names,
                     .segments = std::move(segments),
                     .timeline = std::move(timeline)};

  const double total = static_cast<double>(std::max<std::uint64_t>(wordsOf(source->m_input.timeline), 1));
  std::uint64_t wordsDone = 0;  // roughly: a DAG record is one
  Walker walker(source->m_input, &context->names);
  walker.setNotes(&notes);
  std::vector<model::Ticks> firstThrows;
  walker.setFirstThrows(&firstThrows);
  UncaughtException uncaught(context->names);
  std::vector<model::Entry> entries;
  model::EntryIndex count = 0;
  std::int32_t least = INT32_MAX;
  std::optional<model::EntryIndex> lastFault, lastOutside;  // of handlers
  for (bool more = true; more;) {
    if (goOn && !goOn(std::min(1.0, static_cast<double>(wordsDone) / total))) return nullptr;
    source->m_checkpoints.push_back(walker.state());
    source->m_stacks.push_back(walker.stackDifference());
    entries.clear();
    const auto done = walker.run(source->m_chunkRecords, entries);
    more = done == source->m_chunkRecords;
    if (!more) walker.finish(entries);
    source->m_recordCount += done;
    wordsDone += done;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      least = std::min(least, entries[i].depth);
      uncaught.add(count + i, entries[i]);
      if (entries[i].kind == model::EntryKind::Exception) {
        if ((entries[i].flags & model::kEntryAgain) == 0) {
          source->m_throws.push_back(
              {.entry = count + i, .type = entries[i].detail, .time = entries[i].time});
        } else {
          source->m_throwsAgain.push_back({.entry = count + i,
                                           .type = entries[i].detail,
                                           .time = entries[i].time,
                                           .first = firstThrows.at(source->m_throwsAgain.size())});
        }
      }
      if (entries[i].kind == model::EntryKind::Line && (entries[i].flags & model::kEntryFault) != 0) {
        lastFault = count + i;
        if ((entries[i].flags & model::kEntryInHandler) == 0) lastOutside = lastFault;
      }
      if ((entries[i].flags & model::kEntryAtOtherFault) != 0) source->m_otherFault = count + i;
    }
    source->m_chunks.push_back(model::summarise(count, entries));
    source->m_times.add(count, entries);
    count += entries.size();
  }
  const WalkState& end = walker.state();
  source->m_handledFault = end.handledFault;
  if (const auto* handler = end.faultHandler(); handler != nullptr && !end.died) {
    using Then = model::Trace::Summary::HandledFault::Then;
    source->m_handledFault = handler->fault;
    source->m_handledFault->then = source->m_input.timeline.atFault ? Then::EndedProcess : Then::Runs;
  }
  if (source->m_handledFault)
    source->m_fault = lastOutside ? lastOutside : lastFault;
  else if (end.died)
    source->m_fault = lastFault;
  if (uncaught.entry()) {
    source->m_abort = lastFault;
    source->m_fault = uncaught.entry();
    source->m_uncaught = {.type = uncaught.type(), .time = uncaught.time()};
  }
  source->m_depthShift = least == INT32_MAX ? 0 : -least;
  for (auto& chunk : source->m_chunks) {
    if (chunk.leastLineDepth != INT32_MAX) chunk.leastLineDepth += source->m_depthShift;
    if (chunk.leastEdgeDepth != INT32_MAX) chunk.leastEdgeDepth += source->m_depthShift;
  }
  return source;
}

model::ExpandedChunk ThreadSource::expand(std::size_t chunk) const {
  model::ExpandedChunk expanded;
  auto& entries = expanded.entries;
  if (chunk >= m_checkpoints.size()) return expanded;
  Walker walker(m_input, nullptr);
  walker.restore(m_checkpoints[chunk], stackAfter(std::span(m_stacks).first(chunk + 1)));
  walker.setPieces(&expanded.pieces);
  entries.reserve(m_chunks[chunk].entryCount);
  walker.run(m_chunkRecords, entries);
  if (chunk + 1 == m_checkpoints.size()) walker.finish(entries);
  for (auto& entry : entries) entry.depth += m_depthShift;
  if (m_uncaught) moveFault(m_chunks[chunk].firstEntry, entries);
  return expanded;
}

// A walk knows of the exception only where it is thrown, and then of the line at which the thread aborted.
void ThreadSource::moveFault(model::EntryIndex first, std::span<model::Entry> entries) const {
  const auto flagsOf = [&](std::optional<model::EntryIndex> index) {
    const bool isHere = index && *index >= first && *index - first < entries.size();
    return isHere ? &entries[*index - first].flags : nullptr;
  };
  if (auto* flags = flagsOf(m_abort)) *flags &= static_cast<std::uint16_t>(~model::kEntryFault);
  if (auto* flags = flagsOf(m_fault)) *flags |= model::kEntryFault;
}

std::vector<BlockStep> ThreadSource::executedBlocks() const {
  std::vector<BlockStep> steps;
  std::vector<model::Entry> entries;
  Walker walker(m_input, nullptr);
  walker.setSteps(&steps);
  while (walker.run(m_chunkRecords, entries) != 0) entries.clear();
  return steps;
}

}  // namespace traceback::loader
