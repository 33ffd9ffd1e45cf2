#include "views/answers_model.h"

#include "model/text_format.h"
#include "views/formatting.h"

namespace traceback::views {

void AnswersModel::set(std::shared_ptr<const model::Trace> trace, std::vector<model::AnswerRow> rows) {
  beginResetModel();
  m_trace = std::move(trace);
  m_rows = std::move(rows);
  endResetModel();
}

int AnswersModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int AnswersModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumnCount; }

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
    case kWhat:
      return QString::fromStdString(model::entryText(*m_trace, thread.entry(row.match)));
    default:
      return row.end ? tr("%1 entries").arg(count(*row.end - row.match + 1)) : QString();
  }
}

QVariant AnswersModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  switch (section) {
    case kThread:
      return tr("Thread");
    case kPlace:
      return tr("Place");
    case kWhat:
      return tr("What");
    default:
      return tr("Length");
  }
}

}  // namespace traceback::views
