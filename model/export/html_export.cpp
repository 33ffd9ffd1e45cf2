// One page without scripts and without anything from elsewhere: calls are <details> that fold.
#include <format>
#include <string>

#include "model/export/writers.h"
#include "model/function_name.h"
#include "model/history_text.h"
#include "model/text_format.h"
#include "model/utf8.h"

namespace traceback::model {

namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; }
body { font: 14px system-ui, sans-serif; margin: 1.5em; max-width: 110em; }
details > *:not(summary) { margin-left: 1.4em; }
summary { cursor: pointer; font-weight: 600; }
p { margin: 0; white-space: pre-wrap; }
code, .place { font: 13px ui-monospace, monospace; }
.place { display: inline-block; min-width: 14em; opacity: .65; }
.note { color: #b06f00; }
.fault { background: #d02c2c33; font-weight: 600; }
@media (prefers-color-scheme: dark) { .note { color: #f2b84b; } }
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string head(const Trace& trace) {
  const std::string program =
      escaped(trace.summary.program.substr(trace.summary.program.find_last_of('/') + 1));
  std::string out = std::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
      "charset=\"utf-8\"><title>{0}</title><style>{1}</style></head>\n"
      "<body><h1>{0}</h1><p>pid {2} on {3}{4}</p>\n",
      program, kStyle, trace.summary.pid, escaped(trace.summary.host),
      trace.summary.faultSignal() != 0 ? ", " + signalName(trace.summary.faultSignal()) : "");
  for (const LoadNote& note : trace.report.notes())
    out += std::format("<p class=\"note\">{}</p>\n", escaped(note.text));
  return out;
}

std::string opened(const Trace& trace, FunctionId function, bool known) {
  const std::string name = known ? escaped(shortFunctionName(functionText(trace, function))) : "(not seen)";
  return "<details open><summary>" + name + "</summary>\n";
}

std::string rowOf(const ExportJob& job, const Entry& entry) {
  if (entry.kind != EntryKind::Line)
    return std::format("<p class=\"note\"><span class=\"place\"></span>{}</p>\n",
                       escaped(entryText(job.trace, entry)));
  const auto* file = job.trace.file(entry.file);
  std::string text = file != nullptr ? job.sources(*file, entry.line) : std::string();
  if (text.empty()) text = shortFunctionName(functionText(job.trace, entry.function));
  const bool fault = (entry.flags & kEntryFault) != 0;
  return std::format("<p{}><span class=\"place\">{}</span><code>{}</code>{}</p>\n",
                     fault ? " class=\"fault\"" : "", escaped(placeText(job.trace, entry)), escaped(text),
                     fault ? " &larr; fault" : "");
}

std::string historyOf(const Trace& trace, const ThreadHistory& history) {
  std::string out = "<details><summary>Before the trace, by samples</summary>\n";
  const auto end = endOfTrace(trace);
  for (const HistoryStretch& stretch : history.stretches)
    for (const std::string& line : historyLines(trace, stretch, end))
      out += "<p><code>" + escaped(line) + "</code></p>\n";
  return out + "</details>\n";
}

}  // namespace

bool writeHtml(const ExportJob& job) {
  if (!job.sink(head(job.trace))) return false;
  for (const ExportRange& range : job.ranges) {
    if (!job.sink("<h2>" + escaped(threadHeading(job.trace, range.thread)) + "</h2>\n")) return false;
    if (const ThreadHistory* history = historyBefore(job, range);
        history && !job.sink(historyOf(job.trace, *history)))
      return false;
    OpenCalls calls;
    const bool all = job.forEach(range, [&](EntryIndex, const Entry& entry) {
      std::string out;
      const auto change = calls.add(entry);
      for (std::size_t i = 0; i < change.left; ++i) out += "</details>\n";
      for (std::size_t i = 1; i <= change.entered; ++i)
        out += opened(job.trace, entry.function, i == change.entered);
      if (entry.kind != EntryKind::Call && entry.kind != EntryKind::Return && entry.kind != EntryKind::Sync)
        out += rowOf(job, entry);
      if (change.leaves) out += "</details>\n";
      return out.empty() || job.sink(out);
    });
    std::string ends;
    for (std::size_t i = 0; i < calls.open(); ++i) ends += "</details>\n";
    if (!all || !job.sink(ends)) return false;
  }
  return job.sink("</body></html>\n");
}

}  // namespace traceback::model
