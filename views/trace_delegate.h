// Draws the rows of both trace models: code in the fixed-width font, calls, and badges with icon and word.
#pragma once

#include <QStyledItemDelegate>
#include <optional>

#include "model/entry.h"

namespace traceback::views {

class TraceDelegate : public QStyledItemDelegate {
  Q_OBJECT

 public:
  explicit TraceDelegate(QObject* parent = nullptr);

  void setFault(std::optional<model::EntryIndex> fault) { m_fault = fault; }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  static int rowHeight();

 private:
  std::optional<model::EntryIndex> m_fault;
};

}  // namespace traceback::views
