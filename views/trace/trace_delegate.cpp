#include "views/trace/trace_delegate.h"

#include <QApplication>
#include <QFontMetrics>
#include <QHeaderView>
#include <QPainter>
#include <QTableView>
#include <algorithm>

#include "views/common/icons.h"
#include "views/common/theme.h"
#include "views/threads/order_marks.h"
#include "views/trace/entry_text.h"

namespace traceback::views {
namespace {

constexpr int kPadding = 6;
constexpr int kIconSize = 14;
constexpr int kOrderWidth = 9;

struct Ink {
  QPainter* painter;
  QRect rect;  // what is left of the cell
  QColor color;

  void text(const QString& text, const QFont& font, const QColor& pen,
            Qt::TextElideMode elided = Qt::ElideRight) {
    if (rect.width() <= 0) return;
    painter->setFont(font);
    painter->setPen(pen);
    const QFontMetrics metrics(font);
    const QString shown = metrics.elidedText(text, elided, rect.width());
    painter->drawText(rect, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, shown);
    rect.setLeft(rect.left() + metrics.horizontalAdvance(shown));
  }

  void icon(const QString& name, const QColor& pen) {
    if (rect.width() < kIconSize) return;
    const QRectF where(rect.left(), rect.center().y() - kIconSize / 2.0 + 0.5, kIconSize, kIconSize);
    paintIcon(*painter, where, name, pen);
    rect.setLeft(rect.left() + kIconSize);
  }

  void gap(int width) { rect.setLeft(rect.left() + width); }
};

QColor badgeColor(const Theme& theme, Badge::Kind kind) {
  switch (kind) {
    case Badge::Fault:
      return theme.faultMark;
    case Badge::Signal:
    case Badge::Exception:
    case Badge::Gap:
      return theme.warningMark;
    case Badge::Untraced:
      return theme.dimText;
    case Badge::Info:
      break;
  }
  return theme.infoMark;
}

void paintBadges(Ink& ink, const Theme& theme, const QFont& font, const QList<Badge>& badges, bool selected) {
  for (const Badge& badge : badges) {
    QFont own = font;
    own.setBold(badge.kind == Badge::Fault);
    ink.icon(badgeIcon(badge.kind), selected ? ink.color : badgeColor(theme, badge.kind));
    ink.gap(4);
    const QColor strong = badge.kind == Badge::Fault ? theme.faultMark : theme.dimText;
    ink.text(badge.text, own, selected ? ink.color : strong);
    ink.gap(12);
  }
}

void paintWhat(Ink& ink, const Theme& theme, const QFont& font, const QModelIndex& index, bool selected) {
  const QString text = index.data(Qt::DisplayRole).toString();
  switch (static_cast<RowStyle>(index.data(kStyleRole).toInt())) {
    case RowStyle::Code:
      return ink.text(text, codeFont(), ink.color);
    case RowStyle::Call: {
      QFont bold = font;
      bold.setWeight(QFont::DemiBold);
      ink.text(text, bold, ink.color);
      ink.gap(10);
      const QString detail = index.data(kDetailRole).toString();
      if (!detail.isEmpty()) ink.text(detail, font, selected ? ink.color : theme.faintText);
      return;
    }
    case RowStyle::Folded: {
      ink.icon(QStringLiteral("fold"), selected ? ink.color : theme.infoMark);
      ink.gap(6);
      ink.text(text, font, selected ? ink.color : theme.dimText);
      ink.gap(10);
      const QString detail = index.data(kDetailRole).toString();
      if (!detail.isEmpty()) ink.text(detail, font, selected ? ink.color : theme.faintText);
      return;
    }
    case RowStyle::Quiet:
      return ink.text(text, font, selected ? ink.color : theme.faintText);
    case RowStyle::More:
      ink.icon(QStringLiteral("more"), selected ? ink.color : theme.infoMark);
      ink.gap(6);
      return ink.text(text, font, selected ? ink.color : theme.infoMark);
    case RowStyle::Words:
      return ink.text(text, font, ink.color);
  }
}

// Whether the column is the one at the left.
bool isFirst(const QStyleOptionViewItem& option, int column) {
  const auto* table = qobject_cast<const QTableView*>(option.widget);
  return table != nullptr && table->horizontalHeader()->visualIndex(column) == 0;
}

void paintOrderOf(QPainter& painter, const QStyleOptionViewItem& option, int column, model::Order order,
                  const Theme& theme) {
  if (order == model::Order::Unknown && (option.state & QStyle::State_Selected) == 0)
    painter.fillRect(option.rect, mix(theme.base, theme.currentMark, theme.dark ? 0.13 : 0.10));
  if (isFirst(option, column))
    paintOrder(painter, QRectF(option.rect.left() + 2, option.rect.top(), kOrderWidth, option.rect.height()),
               order, theme);
}

}  // namespace

TraceDelegate::TraceDelegate(QObject* parent) : QStyledItemDelegate(parent) {}

int TraceDelegate::rowHeight() {
  const int text = std::max(QFontMetrics(codeFont()).height(), QFontMetrics(QApplication::font()).height());
  return std::max(text, kIconSize) + 4;
}

QSize TraceDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  return {QStyledItemDelegate::sizeHint(option, index).width(), rowHeight()};
}

void TraceDelegate::paint(QPainter* painter, const QStyleOptionViewItem& given,
                          const QModelIndex& index) const {
  QStyleOptionViewItem option = given;
  initStyleOption(&option, index);
  const Theme theme(option.palette);
  const bool selected = (option.state & QStyle::State_Selected) != 0;
  painter->save();
  painter->setClipRect(option.rect);
  const QVariant entry = index.data(kEntryRole);
  if (!selected && m_fault && entry.isValid() && entry.toULongLong() == *m_fault)
    painter->fillRect(option.rect, theme.fault);
  const QStyle* style = option.widget != nullptr ? option.widget->style() : QApplication::style();
  style->drawPrimitive(QStyle::PE_PanelItemViewItem, &option, painter, option.widget);

  const auto group = (option.state & QStyle::State_Active) != 0 ? QPalette::Active : QPalette::Inactive;
  const QColor plain = option.palette.color(group, selected ? QPalette::HighlightedText : QPalette::Text);
  const QVariant order = index.data(kOrderRole);
  if (order.isValid())
    paintOrderOf(*painter, option, index.column(), static_cast<model::Order>(order.toInt()), theme);
  const bool leads = order.isValid() && isFirst(option, index.column());
  Ink ink{painter, option.rect.adjusted(leads ? kOrderWidth + kPadding : kPadding / 2, 0, -kPadding, 0),
          plain};
  if (index.column() == kWhatColumn) {
    paintWhat(ink, theme, option.font, index, selected);
  } else if (index.column() == kNoteColumn) {
    paintBadges(ink, theme, option.font, index.data(kBadgesRole).value<QList<Badge>>(), selected);
    const auto note = m_noteAt && entry.isValid() ? m_noteAt(entry.toULongLong()) : std::nullopt;
    if (note) {
      ink.icon(QStringLiteral("bookmark"), selected ? plain : theme.infoMark);
      ink.gap(4);
      ink.text(*note, option.font, selected ? plain : theme.text);
    }
  } else {
    // Of a place both ends tell something: which file, and the line or address.
    ink.text(index.data(Qt::DisplayRole).toString(), option.font, selected ? plain : theme.dimText,
             index.column() == kPlaceColumn ? Qt::ElideMiddle : Qt::ElideRight);
  }
  painter->restore();
}

}  // namespace traceback::views
