#include "model/export/trace_export.h"

#include <algorithm>
#include <string>

#include "model/export/writers.h"
#include "model/history_text.h"
#include "model/text_format.h"
#include "model/utf8.h"

namespace traceback::model {

namespace {

constexpr std::size_t kBatch = 4096;
// Deeper calls are taken to be this deep.
constexpr std::int32_t kDeepest = 50'000;

bool writeText(const ExportJob& job) {
  const TextRows rows(job.trace, job.sources, TextRows::Shape::Tree);
  const auto end = endOfTrace(job.trace);
  for (const ExportRange& range : job.ranges) {
    if (!job.sink(threadHeading(job.trace, range.thread) + "\n")) return false;
    if (const ThreadHistory* history = historyBefore(job, range)) {
      std::string text = "  before the trace, by samples:\n";
      for (const HistoryStretch& stretch : history->stretches)
        for (const std::string& line : historyLines(job.trace, stretch, end)) text += line + "\n";
      if (!job.sink(text + "  the trace:\n")) return false;
    }
    const auto outermost = outermostDepth(*job.trace.threads[range.thread.value], range.first);
    const bool all = job.forEach(range, [&](EntryIndex, const Entry& entry) {
      return !rows.shows(entry.kind) || job.sink(rows.row(entry, outermost) + "\n");
    });
    if (!all) return false;
  }
  return true;
}

bool writeJson(const ExportJob& job) {
  return std::ranges::all_of(job.ranges, [&job](const ExportRange& range) {
    if (const ThreadHistory* history = historyBefore(job, range)) {
      for (std::size_t i = 0; i < history->stretches.size(); ++i)
        if (!job.sink(historyJson(job.trace, range.thread, i, history->stretches[i]) + "\n")) return false;
    }
    return job.forEach(range, [&](EntryIndex index, const Entry& entry) {
      return job.sink(entryJson(job.trace, range.thread, index, entry) + "\n");
    });
  });
}

}  // namespace

std::optional<ExportFormat> exportFormat(std::string_view name) {
  if (name == "text") return ExportFormat::Text;
  if (name == "json") return ExportFormat::Json;
  if (name == "html") return ExportFormat::Html;
  if (name == "perfetto") return ExportFormat::Perfetto;
  return std::nullopt;
}

ExportRange wholeThread(const Trace& trace, ThreadIndex thread) {
  return {thread, 0, trace.threads[thread.value]->entryCount()};
}

const ThreadHistory* historyBefore(const ExportJob& job, const ExportRange& range) {
  const auto& history = job.trace.threads[range.thread.value]->info().history;
  return range.first == 0 && history && !history->stretches.empty() ? history.get() : nullptr;
}

bool ExportJob::forEach(const ExportRange& range,
                        const std::function<bool(EntryIndex, const Entry&)>& each) const {
  const ThreadTrace& thread = *trace.threads[range.thread.value];
  for (EntryIndex at = range.first; at < range.end;) {
    if (stop.stop_requested()) return false;
    const auto entries =
        thread.entries(at, static_cast<std::size_t>(std::min<EntryIndex>(kBatch, range.end - at)));
    if (entries.empty()) break;
    for (const Entry& entry : entries)
      if (!each(at++, entry)) return false;
  }
  return true;
}

OpenCalls::Change OpenCalls::add(const Entry& entry) {
  Change change;
  if (entry.kind == EntryKind::Sync) return change;  // belongs to no call in particular
  const auto level = static_cast<std::size_t>(std::clamp(entry.depth, 0, kDeepest)) + 1;
  const std::size_t around = entry.kind == EntryKind::Call ? level - 1 : level;
  if (m_open > around) change.left = m_open - around;
  m_open = std::min(m_open, around);
  if (m_open < level) change.entered = level - m_open;
  m_open = level;
  change.leaves = entry.kind == EntryKind::Return;
  if (change.leaves) --m_open;
  return change;
}

bool exportTrace(const Trace& trace, std::span<const ExportRange> ranges, ExportFormat format,
                 const SourceLine& sources, const Sink& sink, std::stop_token stop) {
  const ExportJob job{trace, ranges, sources, sink, std::move(stop)};
  switch (format) {
    case ExportFormat::Text:
      return writeText(job);
    case ExportFormat::Json:
      return writeJson(job);
    case ExportFormat::Html:
      return writeHtml(job);
    case ExportFormat::Perfetto:
      return writePerfetto(job);
  }
  return false;
}

}  // namespace traceback::model
