#include "views/order_marks.h"

#include <QPainter>

#include "views/formatting.h"
#include "views/theme.h"

namespace traceback::views {
namespace {

constexpr int kSample = 22, kGap = 6, kBetween = 16;
constexpr model::Order kOrders[] = {model::Order::Before, model::Order::Unknown, model::Order::After};

}  // namespace

void paintOrder(QPainter& painter, const QRectF& where, model::Order order, const Theme& theme) {
  if (where.width() <= 0) return;
  painter.save();
  switch (order) {
    case model::Order::Before:
      painter.fillRect(where, mix(theme.base, theme.executedMark, theme.dark ? 0.55 : 0.50));
      break;
    case model::Order::Unknown: {
      painter.fillRect(where, mix(theme.base, theme.currentMark, theme.dark ? 0.22 : 0.20));
      painter.setClipRect(where);
      painter.setRenderHint(QPainter::Antialiasing);
      painter.setPen(QPen(mix(theme.base, theme.currentMark, 0.85), 1.2));
      const double height = where.height();
      for (double x = std::floor((where.left() - height) / 6) * 6; x < where.right(); x += 6)
        painter.drawLine(QPointF(x, where.bottom()), QPointF(x + height, where.top()));
      break;
    }
    case model::Order::After:
      painter.fillRect(where, mix(theme.base, theme.executedMark, 0.07));
      painter.setPen(QPen(mix(theme.base, theme.executedMark, theme.dark ? 0.60 : 0.70), 1));
      painter.drawRect(where.adjusted(0.5, 0.5, -0.5, -0.5));
      break;
    case model::Order::Same:
      painter.fillRect(where, theme.currentMark);
      break;
  }
  painter.restore();
}

OrderLegend::OrderLegend(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Filled: before the current entry. Hatched: order not known. Outlined: after it."));
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

QSize OrderLegend::sizeHint() const {
  int width = kGap;
  for (const model::Order order : kOrders)
    width += kSample + kGap + fontMetrics().horizontalAdvance(orderText(order)) + kBetween;
  return {width, fontMetrics().height() + 6};
}

QSize OrderLegend::minimumSizeHint() const { return {0, sizeHint().height()}; }

void OrderLegend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Theme theme(palette());
  double x = kGap;
  for (const model::Order order : kOrders) {
    const double height = fontMetrics().ascent() * 0.8;
    paintOrder(painter, {x, (this->height() - height) / 2, kSample, height}, order, theme);
    x += kSample + kGap;
    const QString words = orderText(order);
    painter.setPen(theme.dimText);
    painter.drawText(QRectF(x, 0, width() - x, this->height()), Qt::AlignVCenter | Qt::TextSingleLine, words);
    x += fontMetrics().horizontalAdvance(words) + kBetween;
  }
}

}  // namespace traceback::views
