#include "model/line_counts.h"

#include "model/executions.h"
#include "model/trace.h"

namespace traceback::model {

namespace {

constexpr std::size_t kBatch = 2048;

std::uint64_t key(FileId file, std::uint32_t line) {
  return static_cast<std::uint64_t>(file.value) << 32 | line;
}

// The line that ran last in a call that is going on.
struct Last {
  Entry entry;
  EntryIndex at = 0;
};

}  // namespace

std::uint64_t LineCounts::of(FileId file, std::uint32_t line) const {
  const auto found = m_counts.find(key(file, line));
  return found == m_counts.end() ? 0 : found->second;
}

LineCounts countLines(const Trace& trace, const std::stop_token& stop) {
  LineCounts counts;
  for (const auto& thread : trace.threads) {
    std::unordered_map<std::int32_t, Last> calls;
    for (EntryIndex at = 0; at < thread->entryCount();) {
      if (stop.stop_requested()) return counts;
      for (const Entry& entry : thread->entries(at, kBatch)) {
        const EntryIndex here = at++;
        // What interrupts a line, or is noted while it calls something, does not end it.
        if (entry.kind == EntryKind::Signal || entry.kind == EntryKind::Sync) continue;
        if (entry.kind != EntryKind::Line || entry.line == 0) calls.erase(entry.depth);
        if (!runsLine(entry)) continue;
        Last& before = calls[executionDepth(entry)];
        if (!goesOn(before.entry, before.at, entry, here)) ++counts.m_counts[key(entry.file, entry.line)];
        before = {entry, here};
      }
    }
  }
  counts.m_complete = true;
  return counts;
}

}  // namespace traceback::model
