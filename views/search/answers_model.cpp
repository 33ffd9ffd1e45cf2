#include "views/search/answers_model.h"

#include "model/text_format.h"
#include "views/common/formatting.h"
#include "views/trace/call_chain.h"
#include "views/trace/entry_text.h"

namespace traceback::views {

void AnswersModel::set(std::shared_ptr<const model::Trace> trace, std::vector<model::AnswerRow> rows) {
  beginResetModel();
  m_trace = std::move(trace);
  m_rows = std::move(rows);
  m_calls.clear();
  endResetModel();
}

QString AnswersModel::calls(int row) const {
  if (const auto known = m_calls.constFind(row); known != m_calls.cend()) return *known;
  const model::AnswerRow& found = answer(row);
  const QString chain =
      callChain(*m_trace, *m_trace->threads[found.thread.value], found.position.value_or(found.match));
  m_calls.insert(row, chain);
  return chain;
}

QVariant AnswersModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  if (role == Qt::TextAlignmentRole && index.column() == kLength)
    return int(Qt::AlignRight | Qt::AlignVCenter);
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
  const model::AnswerRow& row = answer(index.row());
  const model::ThreadTrace& thread = *m_trace->threads[row.thread.value];
  switch (index.column()) {
    case kThread:
      return threadName(thread.info(), model::threadNumber(row.thread));
    case kPlace:
      return place(*m_trace, thread.entry(row.position.value_or(row.match)));
    case kWhat: {
      const model::Entry entry = thread.entry(row.match);
      const QString what = EntryText(*m_trace, *m_sources).what(entry, nullptr);
      return entry.kind == model::EntryKind::Call ? tr("call %1").arg(what) : what;
    }
    case kCalls:
      return calls(index.row());
    default:
      return row.end ? tr("%1 entries").arg(count(*row.end - row.match + 1)) : QString();
  }
}

}  // namespace traceback::views
