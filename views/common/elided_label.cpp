#include "views/common/elided_label.h"

#include <QPainter>

namespace traceback::views {

void ElidedLabel::setFullText(const QString& text) {
  setText(text);
  setToolTip(text);
  updateGeometry();
}

QSize ElidedLabel::sizeHint() const {
  return {fontMetrics().horizontalAdvance(text()) + 4, QLabel::sizeHint().height()};
}

void ElidedLabel::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setPen(palette().color(foregroundRole()));
  const QString shown = fontMetrics().elidedText(text(), m_mode, width());
  painter.drawText(rect(), static_cast<int>(alignment()) | Qt::TextSingleLine, shown);
}

}  // namespace traceback::views
