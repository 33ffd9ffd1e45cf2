#include "views/notes/annotations_model.h"

#include <QGuiApplication>

#include "views/common/formatting.h"
#include "views/common/icons.h"
#include "views/common/theme.h"

namespace traceback::views {

AnnotationsModel::AnnotationsModel(Annotations& annotations, QObject* parent)
    : RowsModel({tr("Place"), tr("Thread"), tr("Note"), tr("By")}, parent),
      m_annotations(&annotations),
      m_shown(annotations.all()) {
  connect(m_annotations, &Annotations::changed, this, [this] {
    beginResetModel();
    m_shown = m_annotations->all();
    endResetModel();
  });
}

Qt::ItemFlags AnnotationsModel::flags(const QModelIndex& index) const {
  Qt::ItemFlags flags = RowsModel::flags(index);
  if (index.isValid() && index.column() == kText && !m_annotations->isReadOnly()) flags |= Qt::ItemIsEditable;
  return flags;
}

QVariant AnnotationsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Annotation& note = m_shown[index.row()];
  if (role == Qt::DecorationRole && index.column() == kPlace) {
    const Theme theme(QGuiApplication::palette());
    return note.reachable() ? icon(QStringLiteral("bookmark"), theme.infoMark)
                            : icon(QStringLiteral("gap"), theme.warningMark);
  }
  if (role == Qt::ToolTipRole) {
    QString tip = tr("By %1, %2").arg(note.author.isEmpty() ? tr("somebody") : note.author, note.created);
    if (!note.text.isEmpty()) tip.prepend(note.text + u'\n');
    if (!note.reachable())
      tip += u'\n' + tr("What stands there now is something else: it cannot be gone to.");
    return tip;
  }
  if (role == Qt::EditRole && index.column() == kText) return note.text;
  if (role != Qt::DisplayRole && role != Qt::AccessibleTextRole) return {};
  switch (index.column()) {
    case kPlace:
      return note.reachable() ? note.place : tr("%1 (moved)").arg(note.place);
    case kThread:
      return note.thread.valid() && m_annotations->trace()
                 ? threadName(m_annotations->trace()->threads[note.thread.value]->info(),
                              note.thread.value + 1)
                 : tr("unknown thread");
    case kText:
      return QString(note.text).replace(u'\n', u' ');
    default:
      return note.author;
  }
}

bool AnnotationsModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (!index.isValid() || index.column() != kText || role != Qt::EditRole) return false;
  m_annotations->setText(index.row(), value.toString());
  return true;
}

}  // namespace traceback::views
