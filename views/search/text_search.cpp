#include "views/search/text_search.h"

#include <QCoreApplication>
#include <algorithm>
#include <unordered_set>

#include "model/executions.h"
#include "model/stepping.h"
#include "views/common/formatting.h"

namespace traceback::views {
namespace {

using model::Answer;

struct Words {
  Q_DECLARE_TR_FUNCTIONS(traceback::views::TextSearch)
};

constexpr std::size_t kBatch = 2048;  // between looks at the stop token

bool holds(std::string_view text, const QString& part) {
  return QString::fromUtf8(text).contains(part, Qt::CaseInsensitive);
}

std::uint64_t keyOf(model::FileId file, std::uint32_t line) { return std::uint64_t{file.value} << 32 | line; }

}  // namespace

Answer executionsOfText(const model::Trace& trace, SourceProvider& sources, const QString& text,
                        std::size_t limit, const std::stop_token& stop) {
  Answer answer;
  std::unordered_set<std::uint64_t> lines;
  std::size_t missing = 0;
  for (std::uint32_t file = 0; file < trace.files.size() && !stop.stop_requested(); ++file) {
    const auto source = sources.source(trace.files[file]);
    if (!source) ++missing;
    for (qsizetype i = 0; source && i < source->lines.size(); ++i)
      if (source->lines[i].contains(text, Qt::CaseInsensitive))
        lines.insert(keyOf({file}, static_cast<std::uint32_t>(i) + 1));
  }
  const bool isSaid =
      std::ranges::any_of(trace.thrownTexts, [&](const auto& thrown) { return holds(thrown.second, text); });
  const auto isWanted = [&](const model::ThreadTrace& thread, model::EntryIndex index,
                            const model::Entry& entry) {
    if (entry.kind == model::EntryKind::Exception) return isSaid && holds(trace.thrownText(entry), text);
    return model::runsLine(entry) && lines.contains(keyOf(entry.file, entry.line)) &&
           !model::continuesLine(thread, index, entry);
  };
  for (std::uint32_t i = 0; i < trace.threads.size() && (isSaid || !lines.empty()) && !answer.more; ++i) {
    const model::ThreadTrace& thread = *trace.threads[i];
    for (model::EntryIndex at = 0; at < thread.entryCount() && !answer.more;) {
      if (stop.stop_requested()) break;
      for (const model::Entry& entry : thread.entries(at, kBatch)) {
        const model::EntryIndex index = at++;
        if (!isWanted(thread, index, entry)) continue;
        answer.more = answer.rows.size() >= limit;
        if (answer.more) break;
        answer.rows.push_back({{i}, index, model::standingPlace(thread, index, entry.kind), {}});
      }
    }
  }
  answer.cancelled = stop.stop_requested();
  if (!answer.rows.empty() || answer.cancelled) return answer;
  QString note = lines.empty()
                     ? Words::tr("no line of the sources that were found, and no exception, holds that text")
                     : Words::tr(
                           "none of the %1 lines that hold that text ran, in what the trace "
                           "holds")
                           .arg(count(lines.size()));
  if (missing != 0) note += Words::tr("; %1 sources were not found").arg(count(missing));
  answer.note = note.toStdString();
  return answer;
}

}  // namespace traceback::views
