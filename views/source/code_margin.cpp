#include "views/source/code_margin.h"

#include <QApplication>
#include <QHelpEvent>
#include <QPainter>
#include <QPainterPath>
#include <QTextBlock>
#include <algorithm>

#include "views/common/icons.h"
#include "views/common/theme.h"
#include "views/source/code_view.h"

namespace traceback::views {
namespace {

constexpr int kIcon = 14;
constexpr int kEdge = 5;       // left of the icon
constexpr int kGap = 10;       // between the columns
constexpr int kBar = 3;        // marks executed lines
constexpr int kArrow = 8;      // marks the current line

}  // namespace

CodeMargin::CodeMargin(CodeView* view) : QWidget(view), m_view(view) {
  setCursor(Qt::ArrowCursor);
  setAccessibleName(CodeView::tr("Line numbers and hit counts"));
}

int CodeMargin::layOut() {
  const QFontMetrics metrics(m_view->font());
  int longest = 3;
  if (m_view->m_labels.isEmpty())
    longest = std::max<int>(longest, static_cast<int>(QString::number(m_view->blockCount()).size()));
  for (const QString& text : std::as_const(m_view->m_labels))
    longest = std::max<int>(longest, static_cast<int>(text.size()));
  m_labelWidth = metrics.horizontalAdvance(u'0') * longest;
  std::size_t most = 0;
  for (const CodeView::Mark& mark : std::as_const(m_view->m_marks)) most = std::max(most, mark.hits);
  const auto digits = std::max<qsizetype>(4, QString::number(most).size() + (m_view->m_atLeast ? 2 : 1));
  m_hitsWidth = metrics.horizontalAdvance(u'0') * static_cast<int>(digits);
  return kEdge + kIcon + kGap / 2 + m_labelWidth + kGap + m_hitsWidth + kGap / 2 + kBar + kArrow;
}

void CodeMargin::mouseReleaseEvent(QMouseEvent* event) {
  const int line = m_view->lineAt(event->position().toPoint().y());
  if (event->button() == Qt::LeftButton && line >= 0)
    emit m_view->executionRequested(line, (event->modifiers() & Qt::ShiftModifier) != 0);
}

void CodeMargin::wheelEvent(QWheelEvent* event) { QApplication::sendEvent(m_view->viewport(), event); }

bool CodeMargin::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    m_view->hover(help->pos().y(), help->globalPos());
    return true;
  }
  return QWidget::event(event);
}

void CodeMargin::paintEvent(QPaintEvent* event) {
  const Theme theme(palette());
  QPainter painter(this);
  painter.fillRect(event->rect(), theme.margin);
  const int width = this->width();
  const int labelLeft = kEdge + kIcon + kGap / 2;
  const int hitsLeft = labelLeft + m_labelWidth + kGap;
  const int barLeft = width - kArrow - kBar;
  for (QTextBlock block = m_view->firstVisibleBlock(); block.isValid(); block = block.next()) {
    const QRectF rect = m_view->lineRect(block);
    if (rect.top() > event->rect().bottom()) break;
    const int line = block.blockNumber();
    const CodeView::Mark mark = m_view->m_marks.value(line);
    const bool current = line == m_view->m_current;
    QFont font = m_view->font();
    font.setBold(current);
    painter.setFont(font);
    painter.setPen(current || mark.hits > 0 ? theme.text : theme.faintText);
    const auto cell = [&rect](int left, int cellWidth) {
      return QRectF(left, rect.top(), cellWidth, rect.height());
    };
    const auto align = (m_view->m_labels.isEmpty() ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter;
    painter.drawText(cell(labelLeft, m_labelWidth), static_cast<int>(align), m_view->label(line));
    if (mark.hits > 0) {
      font.setBold(false);
      painter.setFont(font);
      painter.setPen(theme.dimText);
      const QString hits = QStringLiteral("%1%2\u00d7")
                               .arg(m_view->m_atLeast ? QStringLiteral("\u2265") : QString())
                               .arg(mark.hits);
      painter.drawText(cell(hitsLeft, m_hitsWidth), static_cast<int>(Qt::AlignRight | Qt::AlignVCenter),
                       hits);
      // Of other rounds a thin bar.
      painter.fillRect(cell(barLeft + (mark.otherRound ? kBar - 1 : 0), mark.otherRound ? 1 : kBar),
                       theme.executedMark);
    } else if (mark.unreached) {
      painter.setPen(theme.faintText);
      painter.drawText(cell(hitsLeft, m_hitsWidth), static_cast<int>(Qt::AlignRight | Qt::AlignVCenter),
                       QStringLiteral("\u2013"));
    }
    if (mark.fault) {
      const QRectF where(kEdge, rect.center().y() - kIcon / 2.0, kIcon, kIcon);
      paintIcon(painter, where, QStringLiteral("fault"), theme.faultMark);
    } else if (!mark.note.isNull()) {
      const QRectF where(kEdge, rect.center().y() - kIcon / 2.0, kIcon, kIcon);
      paintIcon(painter, where, QStringLiteral("bookmark"), theme.infoMark);
    }
    if (current) {
      painter.setRenderHint(QPainter::Antialiasing);
      QPainterPath arrow;
      const double half = std::min(rect.height() / 2 - 3, 5.0);
      arrow.moveTo(barLeft + kBar + 1.5, rect.center().y() - half);
      arrow.lineTo(width - 0.5, rect.center().y());
      arrow.lineTo(barLeft + kBar + 1.5, rect.center().y() + half);
      arrow.closeSubpath();
      painter.fillPath(arrow, mark.fault ? theme.faultMark : theme.currentMark);
      painter.setRenderHint(QPainter::Antialiasing, false);
    }
  }
}

}  // namespace traceback::views
