#include "views/common/flat_header.h"

#include <QPainter>

#include "views/common/theme.h"

namespace traceback::views {
namespace {

constexpr int kBefore = 4, kAfter = 6;  // a title

}  // namespace

FlatHeader::FlatHeader(QWidget* parent) : QHeaderView(Qt::Horizontal, parent) { setSectionsClickable(false); }

QSize FlatHeader::sectionSizeFromContents(int section) const {
  return {QHeaderView::sectionSizeFromContents(section).width() + kAfter, fontMetrics().height() + 6};
}

void FlatHeader::paintEvent(QPaintEvent* event) {
  const Theme theme(palette());
  {
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), theme.base);
  }
  QHeaderView::paintEvent(event);
  QPainter painter(viewport());
  painter.setPen(theme.separator);
  painter.drawLine(viewport()->rect().bottomLeft(), viewport()->rect().bottomRight());
}

void FlatHeader::paintSection(QPainter* painter, const QRect& rect, int section) const {
  const Theme theme(palette());
  painter->fillRect(rect, theme.base);
  painter->setPen(theme.dimText);
  const QString text = model()->headerData(section, orientation(), Qt::DisplayRole).toString();
  const QRect inner = rect.adjusted(kBefore, 0, -kAfter, 0);
  painter->drawText(inner, static_cast<int>(Qt::AlignLeft | Qt::AlignVCenter),
                    fontMetrics().elidedText(text, Qt::ElideRight, inner.width()));
  painter->setPen(mix(theme.base, theme.separator, 0.6));
  if (visualIndex(section) + 1 < count())
    painter->drawLine(rect.right(), rect.top() + 5, rect.right(), rect.bottom() - 5);
}

}  // namespace traceback::views
