// Draws the rows of both trace models: code in the fixed-width font, calls, and badges with icon and word.
#pragma once

#include <QStyledItemDelegate>
#include <functional>
#include <optional>

#include "model/entry.h"

namespace traceback::views {

class TraceDelegate : public QStyledItemDelegate {
  Q_OBJECT

 public:
  explicit TraceDelegate(QObject* parent = nullptr);

  // The user's note at an entry; nothing if there is none.
  using NoteAt = std::function<std::optional<QString>(model::EntryIndex)>;
  void setNotes(NoteAt noteAt) { m_noteAt = std::move(noteAt); }
  void setFault(std::optional<model::EntryIndex> fault) { m_fault = fault; }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  static int rowHeight();

 private:
  std::optional<model::EntryIndex> m_fault;
  NoteAt m_noteAt;
};

}  // namespace traceback::views
