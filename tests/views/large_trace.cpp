#include "large_trace.h"

#include <string>

#include "tests/builders/trace_text.h"

namespace traceback::tests {

using namespace model;

Entry RoundsSource::at(std::uint64_t index) const {
  Entry entry;
  entry.module = {0};
  entry.file = {0};
  entry.function = {0};
  if (index == 0) {
    entry.kind = EntryKind::Call;
    return entry;
  }
  if (index == m_entries - 1) {
    entry.line = 12;
    entry.flags = kEntryFault;
    entry.address = entry.last = {0x1030};
    return entry;
  }
  const std::uint64_t step = (index - 1) % 6;
  const bool inWork = step >= 1 && step <= 4;
  entry.depth = inWork ? 1 : 0;
  entry.function = {inWork ? 1U : 0U};
  if (step == 1) entry.kind = EntryKind::Call;
  if (step == 4) entry.kind = EntryKind::Return;
  constexpr std::uint32_t kLines[] = {10, 0, 20, 21, 0, 11};
  entry.line = kLines[step];
  entry.address = entry.last = {(inWork ? 0x2000U : 0x1000U) + 4 * entry.line};
  return entry;
}

ExpandedChunk RoundsSource::expand(std::size_t chunk) const {
  ++m_expanded;
  std::vector<Entry> entries;
  const std::uint64_t first = chunk * kChunk;
  for (std::uint64_t i = first; i < std::min<std::uint64_t>(first + kChunk, m_entries); ++i)
    entries.push_back(at(i));
  return {.entries = std::move(entries)};
}

LargeTrace largeTrace(std::uint64_t rounds) {
  LargeTrace large;
  large.source = std::make_shared<RoundsSource>(rounds);
  large.trace = traceOf("call main main.c\n  10\n  call work work.c\n    20\n");
  std::vector<ChunkSummary> chunks;
  for (std::size_t i = 0; i < large.source->chunkCount(); ++i)
    chunks.push_back(summarise(i * RoundsSource::kChunk, large.source->expand(i).entries));
  large.source->forgetExpanded();
  ThreadTrace::Info info;
  info.tid = 1;
  info.name = "main";
  info.atFault = true;
  info.fault = large.source->entryCount() - 1;
  large.trace->threads.clear();
  large.trace->threads.push_back(std::make_unique<const ThreadTrace>(info, large.source, std::move(chunks)));
  return large;
}

std::shared_ptr<Trace> deepTrace(int depth) {
  std::string text = "call main main.c\n 10\n";
  for (int i = 0; i < depth; ++i) {
    text += std::string(static_cast<std::size_t>(i) + 1, ' ') + "call down main.c\n";
    text += std::string(static_cast<std::size_t>(i) + 2, ' ') + "20\n";
  }
  text += std::string(static_cast<std::size_t>(depth) + 1, ' ') + "21 fault\n";
  return traceOf(text, 64);
}

}  // namespace traceback::tests
