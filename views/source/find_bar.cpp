#include "views/source/find_bar.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

#include "views/common/icons.h"

namespace traceback::views {

FindBar::FindBar(QWidget* parent) : QWidget(parent), m_text(new QLineEdit(this)), m_result(new QLabel(this)) {
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(8, 4, 4, 4);
  m_text->setPlaceholderText(tr("Find in this file"));
  m_text->setAccessibleName(tr("Find in this file"));
  m_text->setClearButtonEnabled(true);
  m_text->setMaximumWidth(360);
  layout->addWidget(m_text, 1);
  const auto button = [this, layout](const QString& name, const QString& tip, auto what) {
    auto* result = new QToolButton(this);
    result->setIcon(icon(name));
    result->setAutoRaise(true);
    result->setToolTip(tip);
    result->setAccessibleName(tip);
    connect(result, &QToolButton::clicked, this, what);
    layout->addWidget(result);
  };
  button(QStringLiteral("up"), tr("Previous (Shift+F3)"), [this] { find(true); });
  button(QStringLiteral("down"), tr("Next (F3)"), [this] { find(false); });
  layout->addWidget(m_result);
  layout->addStretch(1);
  button(QStringLiteral("close"), tr("Close (Esc)"), [this] { close(); });
  connect(m_text, &QLineEdit::textChanged, this, &FindBar::findWhileTyping);
  connect(m_text, &QLineEdit::returnPressed, this, [this] { find(false); });
  hide();
}

void FindBar::setView(QPlainTextEdit* view) { m_view = view; }

void FindBar::open() {
  if (m_view == nullptr) return;
  const QString selected = m_view->textCursor().selectedText();
  show();
  if (!selected.isEmpty() && !selected.contains(QChar::ParagraphSeparator)) m_text->setText(selected);
  m_text->setFocus();
  m_text->selectAll();
}

void FindBar::close() {
  hide();
  if (m_view != nullptr) m_view->setFocus();
}

bool FindBar::find(bool backwards) {
  if (m_view == nullptr || m_text->text().isEmpty()) return false;
  const auto flags = backwards ? QTextDocument::FindBackward : QTextDocument::FindFlags();
  m_result->clear();
  if (m_view->find(m_text->text(), flags)) return true;
  const QTextCursor before = m_view->textCursor();
  QTextCursor round = before;
  round.movePosition(backwards ? QTextCursor::End : QTextCursor::Start);
  m_view->setTextCursor(round);
  if (m_view->find(m_text->text(), flags)) {
    m_result->setText(backwards ? tr("Went on from the end") : tr("Went on from the start"));
    return true;
  }
  m_view->setTextCursor(before);
  m_result->setText(tr("Not found"));
  return false;
}

void FindBar::findWhileTyping(const QString& text) {
  m_result->clear();
  if (m_view == nullptr || text.isEmpty()) return;
  // From the start of what was found so far, so that typing on does not run ahead.
  QTextCursor cursor = m_view->textCursor();
  cursor.setPosition(cursor.selectionStart());
  m_view->setTextCursor(cursor);
  find(false);
}

void FindBar::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) return close();
  if (event->key() == Qt::Key_Return && (event->modifiers() & Qt::ShiftModifier) != 0) {
    find(true);
    return;
  }
  QWidget::keyPressEvent(event);
}

}  // namespace traceback::views
