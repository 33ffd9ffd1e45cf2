// Draws a thread's lane: what of it ran before the current entry, what after, what in no known order; and
// what happened in it.
#pragma once

#include <QStyledItemDelegate>

#include "views/threads/lanes_model.h"
#include "views/threads/time_axis.h"

namespace traceback::views {

class LanesDelegate : public QStyledItemDelegate {
  Q_OBJECT

 public:
  LanesDelegate(const LanesModel& model, const TimeAxis& axis, QObject* parent = nullptr)
      : QStyledItemDelegate(parent), m_model(&model), m_axis(&axis) {}

  static int laneHeight();
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  const LanesModel* m_model;
  const TimeAxis* m_axis;
};

}  // namespace traceback::views
