#include "views/summary/notes_model.h"

#include <QGuiApplication>
#include <QPalette>

#include "views/common/formatting.h"
#include "views/common/icons.h"
#include "views/common/theme.h"

namespace traceback::views {

void NotesModel::setTrace(std::shared_ptr<const model::Trace> trace) {
  beginResetModel();
  m_trace = std::move(trace);
  endResetModel();
}

QVariant NotesModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || !m_trace) return {};
  const model::LoadNote& note = m_trace->report.notes()[static_cast<std::size_t>(index.row())];
  if (role == Qt::ToolTipRole) return QString::fromStdString(note.text);
  if (role == Qt::DecorationRole && index.column() == kKind) {
    const Theme theme(QGuiApplication::palette());
    switch (note.severity) {
      case model::Severity::Info:
        return icon(QStringLiteral("info"), theme.infoMark);
      case model::Severity::DataLoss:
        return icon(QStringLiteral("gap"), theme.warningMark);
      case model::Severity::Error:
        return icon(QStringLiteral("fault"), theme.faultMark);
    }
  }
  if (role == Qt::TextAlignmentRole && index.column() == kCount)
    return int(Qt::AlignRight | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  switch (index.column()) {
    case kKind:
      if (note.severity == model::Severity::Info) return tr("Note");
      return note.severity == model::Severity::DataLoss ? tr("Data lost") : tr("Error");
    case kText:
      return QString::fromStdString(note.text);
    default:
      return note.count == 1 ? QString() : tr("%1 times").arg(count(note.count));
  }
}

}  // namespace traceback::views
