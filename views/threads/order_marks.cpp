#include "views/threads/order_marks.h"

#include <QPainter>
#include <cmath>

#include "views/common/formatting.h"
#include "views/common/theme.h"

namespace traceback::views {
namespace {

constexpr int kSample = 22, kGap = 6, kBetween = 16;
constexpr double kHatch = 6;
constexpr model::Order kOrders[] = {model::Order::Before, model::Order::Unknown, model::Order::After};

QString sampledText() { return OrderLegend::tr("samples from before the trace"); }

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
      for (int i = static_cast<int>(std::floor((where.left() - height) / kHatch)); i * kHatch < where.right();
           ++i)
        painter.drawLine(QPointF(i * kHatch, where.bottom()), QPointF(i * kHatch + height, where.top()));
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

void paintSampled(QPainter& painter, const QRectF& where, const Theme& theme) {
  const double third = std::floor(where.height() / 3);
  painter.fillRect(where.adjusted(0, third, 0, -third),
                   mix(theme.base, theme.executedMark, theme.dark ? 0.30 : 0.25));
}

OrderLegend::OrderLegend(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  setShowsSampled(false);
}

void OrderLegend::setShowsSampled(bool shows) {
  m_showsSampled = shows;
  QString words = tr("Filled: before the current entry. Hatched: order not known. Outlined: after it.");
  if (shows) words += u' ' + tr("Thin: samples from before the trace, of which the trace itself is lost.");
  setAccessibleName(words);
  updateGeometry();
  update();
}

QSize OrderLegend::sizeHint() const {
  int width = kGap;
  for (const model::Order order : kOrders)
    width += kSample + kGap + fontMetrics().horizontalAdvance(orderText(order)) + kBetween;
  if (m_showsSampled) width += kSample + kGap + fontMetrics().horizontalAdvance(sampledText()) + kBetween;
  return {width, fontMetrics().height() + 6};
}

QSize OrderLegend::minimumSizeHint() const { return {0, sizeHint().height()}; }

void OrderLegend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Theme theme(palette());
  double x = kGap;
  const double sample = fontMetrics().ascent() * 0.8;
  const auto place = [&] { return QRectF(x, (height() - sample) / 2, kSample, sample); };
  const auto say = [&](const QString& words) {
    x += kSample + kGap;
    painter.setPen(theme.dimText);
    painter.drawText(QRectF(x, 0, width() - x, height()), Qt::AlignVCenter | Qt::TextSingleLine, words);
    x += fontMetrics().horizontalAdvance(words) + kBetween;
  };
  for (const model::Order order : kOrders) {
    paintOrder(painter, place(), order, theme);
    say(orderText(order));
  }
  if (!m_showsSampled) return;
  paintSampled(painter, place(), theme);
  say(sampledText());
}

}  // namespace traceback::views
