#include "views/source/code_view.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QMenu>
#include <QMetaMethod>
#include <QPainter>
#include <QScrollBar>
#include <QTextBlock>
#include <QToolTip>
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "views/common/formatting.h"
#include "views/common/theme.h"
#include "views/source/code_margin.h"

namespace traceback::views {
namespace {

constexpr int kContextLines = 4;

}  // namespace

CodeView::CodeView(QWidget* parent) : QPlainTextEdit(parent), m_margin(new CodeMargin(this)) {
  setReadOnly(true);
  setUndoRedoEnabled(false);
  setFrameShape(QFrame::NoFrame);
  setLineWrapMode(QPlainTextEdit::NoWrap);
  setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  viewport()->setCursor(Qt::ArrowCursor);
  document()->setDocumentMargin(2);
  applyFont();
  connect(verticalScrollBar(), &QScrollBar::actionTriggered, this, [this] { m_follow = false; });
  connect(this, &QPlainTextEdit::updateRequest, this, [this](const QRect& rect, int dy) {
    if (dy != 0)
      m_margin->scroll(0, dy);
    else
      m_margin->update(0, rect.y(), m_margin->width(), rect.height());
  });
}

void CodeView::applyFont() {
  setFont(codeFont());
  setTabStopDistance(8 * QFontMetricsF(codeFont()).horizontalAdvance(u' '));
  layOutMargin();
}

void CodeView::setLines(const QStringList& lines, const QStringList& labels) {
  m_marks.clear();
  m_current = -1;
  m_labels = labels;
  setPlainText(lines.join(u'\n'));
  layOutMargin();
}

void CodeView::setMarks(QHash<int, Mark> marks, bool atLeast) {
  m_marks = std::move(marks);
  m_atLeast = atLeast;
  layOutMargin();
  viewport()->update();
  m_margin->update();
}

QString CodeView::label(int line) const {
  if (m_labels.isEmpty()) return QString::number(line + 1);
  return line < m_labels.size() ? m_labels[line] : QString();
}

void CodeView::setCurrentLine(int line) {
  m_current = line;
  m_follow = true;
  viewport()->update();
  m_margin->update();
  scrollToCurrent(false);
}

void CodeView::scrollToCurrent(bool resized) {
  const QTextBlock block = document()->findBlockByNumber(m_current);
  if (m_current < 0 || !block.isValid()) return;
  const int top = firstVisibleBlock().blockNumber();
  const int shown =
      std::max(1, static_cast<int>(viewport()->height() / std::max(1.0, lineRect(block).height())));
  const int first = std::max(0, std::min(top, document()->blockCount() - shown));
  if (!resized) {
    // The text cursor goes along for the keyboard and for screen readers; where to scroll is decided here.
    const int across = horizontalScrollBar()->value();
    setTextCursor(QTextCursor(block));
    horizontalScrollBar()->setValue(across);
  }
  const int room = std::min(kContextLines, shown / 4);
  const bool near = m_current >= first + room && m_current <= first + shown - 1 - room;
  int scroll = first;
  if (m_current < first || m_current >= first + shown || (resized && !near))
    scroll = m_current - shown / 2;
  else if (m_current < first + room)
    scroll = m_current - room;
  else if (m_current > first + shown - 1 - room)
    scroll = m_current - shown + 1 + room;
  verticalScrollBar()->setValue(std::max(0, scroll));
}

QRectF CodeView::lineRect(const QTextBlock& block) const {
  return blockBoundingGeometry(block).translated(contentOffset());
}

int CodeView::lineAt(int y) const {
  for (QTextBlock block = firstVisibleBlock(); block.isValid(); block = block.next()) {
    const QRectF rect = lineRect(block);
    if (rect.top() > y) break;
    if (y < rect.bottom()) return block.blockNumber();
  }
  return -1;
}

void CodeView::layOutMargin() {
  const int width = m_margin->layOut();
  setViewportMargins(width, 0, 0, 0);
  m_margin->setGeometry(contentsRect().left(), contentsRect().top(), width, contentsRect().height());
}

void CodeView::resizeEvent(QResizeEvent* event) {
  QPlainTextEdit::resizeEvent(event);
  layOutMargin();
  if (m_follow) scrollToCurrent(true);
}

void CodeView::wheelEvent(QWheelEvent* event) {
  m_follow = false;
  QPlainTextEdit::wheelEvent(event);
}

void CodeView::changeEvent(QEvent* event) {
  QPlainTextEdit::changeEvent(event);
  if (event->type() == QEvent::ApplicationFontChange) applyFont();
  if (event->type() == QEvent::PaletteChange) m_margin->update();
}

void CodeView::paintEvent(QPaintEvent* event) {
  {
    const Theme theme(palette());
    QPainter painter(viewport());
    QRectF current;
    for (QTextBlock block = firstVisibleBlock(); block.isValid(); block = block.next()) {
      const QRectF rect = lineRect(block);
      if (rect.top() > event->rect().bottom()) break;
      const int line = block.blockNumber();
      const Mark mark = m_marks.value(line);
      const QRectF band(0, rect.top(), viewport()->width(), rect.height());
      if (mark.hits > 0)
        painter.fillRect(band, mark.otherRound ? mix(theme.base, theme.executed, 0.4) : theme.executed);
      if (mark.fault) painter.fillRect(band, theme.fault);
      if (line != m_current) continue;
      if (!mark.fault) painter.fillRect(band, theme.current);
      painter.setPen(mark.fault ? theme.faultMark : theme.currentMark);
      current = band;
    }
    // Its frame is above it and above the next one, whose band is there by now: the last row of a line has
    // its underscores.
    if (!current.isNull()) {
      painter.drawLine(current.topLeft(), current.topRight());
      painter.drawLine(current.bottomLeft(), current.bottomRight());
    }
  }
  QPlainTextEdit::paintEvent(event);
  // Over the text, whose colours are the highlighter's.
  QPainter painter(viewport());
  QColor veil = palette().color(QPalette::Base);
  veil.setAlphaF(0.55F);
  for (QTextBlock block = firstVisibleBlock(); block.isValid(); block = block.next()) {
    const QRectF rect = lineRect(block);
    if (rect.top() > event->rect().bottom()) break;
    const double frame =
        block.blockNumber() == m_current + 1 ? 1 : 0;  // the current line's, which is no text
    if (m_marks.value(block.blockNumber()).unreached && block.blockNumber() != m_current)
      painter.fillRect(QRectF(0, rect.top() + frame, viewport()->width(), rect.height() - frame), veil);
  }
}

QString CodeView::markText(int line) const {
  const auto mark = m_marks.constFind(line);
  if (line < 0 || mark == m_marks.constEnd()) return {};
  QStringList parts;
  if (mark->fault) parts.append(tr("The thread faulted here."));
  if (!mark->note.isNull())
    parts.append(mark->note.isEmpty() ? tr("Bookmark.") : tr("Note: %1").arg(mark->note));
  if (mark->hits > 0) {
    const QString times = mark->hits == 1 && !m_atLeast ? tr("Ran once in this call.")
                          : m_atLeast ? tr("Ran at least %1 times in this call.").arg(count(mark->hits))
                                      : tr("Ran %1 times in this call.").arg(count(mark->hits));
    parts.append(mark->otherRound ? times + u' ' + tr("Not in this round of the loop.") : times);
  }
  if (mark->unreached) parts.append(tr("It has code, but no execution of it is in what the trace holds."));
  return parts.join(u'\n');
}

void CodeView::hover(int y, const QPoint& global) {
  const int line = lineAt(y);
  // Who listens says more than a tool tip.
  if (line >= 0 && isSignalConnected(QMetaMethod::fromSignal(&CodeView::lineHovered)))
    emit lineHovered(line, whereIs(line));
  else
    QToolTip::showText(global, markText(line), this);
}

QString CodeView::wordAt(const QPoint& inViewport) const {
  QTextCursor cursor = cursorForPosition(inViewport);
  const QRect at = cursorRect(cursor);
  // Beside the text the nearest place is found, too.
  if (std::abs(at.center().x() - inViewport.x()) > fontMetrics().averageCharWidth() ||
      inViewport.y() < at.top() || inViewport.y() > at.bottom())
    return {};
  cursor.select(QTextCursor::WordUnderCursor);
  return cursor.selectedText();
}

QRect CodeView::whereIs(int line) const {
  const QTextBlock block = document()->findBlockByNumber(line);
  if (!block.isValid()) return {};
  const QRect rect = lineRect(block).toAlignedRect();
  return viewport()->rect().intersects(rect) ? rect : QRect();
}

bool CodeView::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const QPoint where = viewport()->mapFromGlobal(help->globalPos());
    const QString about = m_wordHelp ? m_wordHelp(wordAt(where)) : QString();
    if (about.isEmpty())
      hover(where.y(), help->globalPos());
    else
      QToolTip::showText(help->globalPos(), about, this);
    return true;
  }
  return QPlainTextEdit::event(event);
}

void CodeView::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
    emit lineActivated(textCursor().blockNumber());
    event->accept();
    return;
  }
  QPlainTextEdit::keyPressEvent(event);
}

void CodeView::contextMenuEvent(QContextMenuEvent* event) {
  // The actions are about the line under the mouse.
  if (event->reason() == QContextMenuEvent::Mouse && !textCursor().hasSelection())
    if (const int line = lineAt(event->pos().y()); line >= 0)
      setTextCursor(QTextCursor(document()->findBlockByNumber(line)));
  const std::unique_ptr<QMenu> menu(createStandardContextMenu(event->pos()));
  QAction* first = menu->actions().value(0);
  menu->insertActions(first, actions());
  if (!actions().isEmpty()) menu->insertSeparator(first);
  menu->exec(event->globalPos());
}

void CodeView::mousePressEvent(QMouseEvent* event) {
  m_pressed = event->position().toPoint();
  QPlainTextEdit::mousePressEvent(event);
}

void CodeView::mouseReleaseEvent(QMouseEvent* event) {
  QPlainTextEdit::mouseReleaseEvent(event);
  const QPoint at = event->position().toPoint();
  const bool dragged = (at - m_pressed).manhattanLength() >= QApplication::startDragDistance();
  const bool control = (event->modifiers() & Qt::ControlModifier) != 0;
  // Shift extends a selection, unless it is about an execution.
  if (event->button() != Qt::LeftButton || dragged || (textCursor().hasSelection() && !control)) return;
  const int line = lineAt(at.y());
  if (line < 0) return;
  if ((event->modifiers() & Qt::ControlModifier) != 0)
    emit executionRequested(line, (event->modifiers() & Qt::ShiftModifier) != 0);
  else
    emit lineActivated(line);
}

}  // namespace traceback::views
