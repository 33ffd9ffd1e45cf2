// How "before", "after" and "order not known" look, everywhere alike. They differ in pattern, not only in
// colour: before is filled, not known is hatched, after is an outline.
#pragma once

#include <QWidget>

#include "model/order.h"

class QPainter;

namespace traceback::views {

struct Theme;

void paintOrder(QPainter& painter, const QRectF& where, model::Order order, const Theme& theme);

// What samples tell of the time before a trace: thin, for it is not the trace. `where` is what a mark of the
// trace would fill.
void paintSampled(QPainter& painter, const QRectF& where, const Theme& theme);

// A line that says which is which.
class OrderLegend : public QWidget {
  Q_OBJECT

 public:
  explicit OrderLegend(QWidget* parent = nullptr);
  // Whether there are samples to be explained, too.
  void setShowsSampled(bool shows);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  bool m_showsSampled = false;
};

}  // namespace traceback::views
