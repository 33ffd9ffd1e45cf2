#include <algorithm>
#include <format>
#include <string>
#include <vector>

#include "model/export/writers.h"
#include "model/function_name.h"
#include "model/history_text.h"
#include "model/text_format.h"
#include "model/utf8.h"

namespace traceback::model {

namespace {

// Entries between two readings of the clock, and when they were: nanoseconds since the export's first.
struct Span {
  EntryIndex first = 0, end = 0;
  std::int64_t from = 0, to = 0;
  bool known = false;  // the clock was read before them
};

std::int64_t nanoseconds(const Trace& trace, Ticks time) {
  const auto clock = trace.wallClock(time);
  return clock ? static_cast<std::int64_t>(clock->value) : 0;
}

// By the readings of the clock, as wall-clock times. What is before the first, or behind the last, is put
// next to it, a nanosecond an entry; as is everything where there is none.
std::vector<Span> spansOf(const ExportJob& job, const ExportRange& range) {
  std::vector<Span> spans;
  Ticks last;
  job.forEach(range, [&](EntryIndex at, const Entry& entry) {
    if (spans.empty() || entry.time != last) {
      const std::int64_t when = nanoseconds(job.trace, entry.time);
      spans.push_back({at, at, when, when, entry.time.value != 0 && when != 0});
      last = entry.time;
    }
    spans.back().end = at + 1;
    return true;
  });
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const auto length = static_cast<std::int64_t>(spans[i].end - spans[i].first);
    if (!spans[i].known && i + 1 < spans.size()) spans[i].from = spans[i + 1].from - length;
    spans[i].to = i + 1 < spans.size() && spans[i].known ? std::max(spans[i + 1].from, spans[i].from + length)
                                                         : spans[i].from + length;
  }
  return spans;
}

class ThreadWriter {
 public:
  ThreadWriter(const ExportJob& job, const ExportRange& range, const std::vector<Span>& spans,
               std::int64_t zero)
      : m_job(job), m_range(range), m_spans(spans), m_zero(zero) {}

  bool write() {
    if (const ThreadHistory* history = historyBefore(m_job, m_range))
      for (const HistoryStretch& stretch : history->stretches)
        if (!m_job.sink(before(stretch))) return false;
    OpenCalls calls;
    const bool all = m_job.forEach(m_range, [&](EntryIndex at, const Entry& entry) {
      m_now = std::max(m_now + 1, timeOf(at));
      const auto change = calls.add(entry);
      std::string out;
      for (std::size_t i = 0; i < change.left; ++i) out += end();
      for (std::size_t i = 1; i <= change.entered; ++i) out += begin(entry, at, i == change.entered);
      if (entry.kind != EntryKind::Call && entry.kind != EntryKind::Return) out += instant(entry, at);
      if (change.leaves) out += end();
      return out.empty() || m_job.sink(out);
    });
    ++m_now;
    std::string ends;
    for (std::size_t i = 0; i < calls.open(); ++i) ends += end();
    return all && m_job.sink(ends);
  }

 private:
  // Spread evenly between two readings.
  std::int64_t timeOf(EntryIndex at) {
    while (m_span + 1 < m_spans.size() && at >= m_spans[m_span].end) ++m_span;
    const Span& span = m_spans[m_span];
    const auto share = static_cast<double>(at - span.first) / static_cast<double>(span.end - span.first);
    return span.from - m_zero + static_cast<std::int64_t>(share * static_cast<double>(span.to - span.from));
  }

  std::string event(char phase, std::string_view rest) const {
    return std::format(",\n{{\"ph\":\"{}\",\"ts\":{}.{:03},\"pid\":{},\"tid\":{}{}}}", phase, m_now / 1000,
                       m_now % 1000, m_job.trace.summary.pid,
                       m_job.trace.threads[m_range.thread.value]->info().tid, rest);
  }

  std::string arguments(const Entry& entry, EntryIndex at) const {
    std::string out = std::format(",\"args\":{{\"entry\":{}", at);
    // What is inlined is called without an address of its own.
    if (const auto place = placeText(m_job.trace, entry);
        !place.empty() && (entry.line != 0 || entry.address.value != 0))
      out += ",\"place\":" + jsonString(place);
    if (const auto clock = m_job.trace.wallClock(entry.time); entry.time.value != 0 && clock)
      out += std::format(",\"after\":{}", clock->value);
    return out + "}";
  }

  // A slice that ends where the thread's first entry begins, at the latest.
  std::string before(const HistoryStretch& stretch) {
    const std::int64_t earliest = std::max<std::int64_t>(m_now, 0);
    const std::int64_t first =
        m_spans.empty() ? INT64_MAX : std::max(m_spans.front().from - m_zero, earliest);
    const auto timeOr = [this](Ticks time, std::int64_t other) {
      const std::int64_t when = nanoseconds(m_job.trace, time);
      return when != 0 ? when - m_zero : other;
    };
    const std::int64_t from = std::clamp(timeOr(stretch.begin, earliest), earliest, first);
    const std::int64_t to = std::clamp(timeOr(stretch.end, from), from, first);
    std::string name = "(not known)";
    std::string functions;
    for (const HistoryFunction& function : stretch.functions) {
      const std::string shown = shortFunctionName(functionText(m_job.trace, function.function));
      if (functions.empty()) name = shown;
      functions += (functions.empty() ? "" : ",") + std::format("{}:{}", jsonString(shown), function.times);
    }
    m_now = from;
    std::string out = event('B', std::format(",\"cat\":\"history\",\"name\":{},\"args\":{{\"sampled\":{},"
                                             "\"looked\":{},\"parts\":{},\"functions\":{{{}}}}}",
                                             jsonString("before the trace: mostly " + name), stretch.sampled,
                                             stretch.looked, stretch.parts, functions));
    m_now = to;
    return out + event('E', "");
  }

  std::string begin(const Entry& entry, EntryIndex at, bool known) const {
    const std::string name =
        known ? shortFunctionName(functionText(m_job.trace, entry.function)) : std::string("(not seen)");
    return event('B', std::format(",\"cat\":\"call\",\"name\":{}{}", jsonString(name), arguments(entry, at)));
  }

  std::string end() const { return event('E', ""); }

  std::string instant(const Entry& entry, EntryIndex at) const {
    std::string name = entryText(m_job.trace, entry);
    if (entry.kind == EntryKind::Line) {
      const auto* file = m_job.trace.file(entry.file);
      const std::string source = file != nullptr ? m_job.sources(*file, entry.line) : std::string();
      name = placeText(m_job.trace, entry) + (source.empty() ? "" : "  " + source);
    }
    return event('i', std::format(",\"s\":\"t\",\"cat\":\"{}\",\"name\":{}{}", kindName(entry.kind),
                                  jsonString(name), arguments(entry, at)));
  }

  const ExportJob& m_job;
  const ExportRange& m_range;
  const std::vector<Span>& m_spans;
  std::int64_t m_zero;
  std::int64_t m_now = -1;
  std::size_t m_span = 0;
};

std::string metadata(std::string_view what, std::uint32_t pid, std::uint32_t tid, const std::string& name) {
  return std::format("{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":{}}}}}", what,
                     pid, tid, jsonString(name));
}

}  // namespace

bool writePerfetto(const ExportJob& job) {
  std::vector<std::vector<Span>> spans;
  std::int64_t zero = INT64_MAX;
  for (const ExportRange& range : job.ranges) {
    spans.push_back(spansOf(job, range));
    if (!spans.back().empty()) zero = std::min(zero, spans.back().front().from);
    if (const ThreadHistory* history = historyBefore(job, range))
      for (const HistoryStretch& stretch : history->stretches)
        if (const std::int64_t began = nanoseconds(job.trace, stretch.begin); began != 0)
          zero = std::min(zero, began);
  }
  const auto& summary = job.trace.summary;
  std::string head = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" +
                     metadata("process_name", summary.pid, summary.pid,
                              summary.program.substr(summary.program.find_last_of('/') + 1));
  for (const ExportRange& range : job.ranges) {
    const auto& info = job.trace.threads[range.thread.value]->info();
    head += ",\n" + metadata("thread_name", summary.pid, info.tid, info.name);
  }
  if (!job.sink(head)) return false;
  for (std::size_t i = 0; i < job.ranges.size(); ++i)
    if (!spans[i].empty() && !ThreadWriter(job, job.ranges[i], spans[i], zero).write()) return false;
  return job.sink("\n]}\n") && !job.stop.stop_requested();
}

}  // namespace traceback::model
