#include "views/common/pane_header.h"

#include <QAction>
#include <QHBoxLayout>
#include <QPainter>
#include <QToolButton>

#include "views/common/theme.h"

namespace traceback::views {

PaneHeader::PaneHeader(QWidget* parent)
    : QWidget(parent), m_titles(new QHBoxLayout), m_buttons(new QHBoxLayout) {
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(8, 2, 4, 3);
  layout->setSpacing(8);
  m_titles->setSpacing(8);
  m_buttons->setSpacing(2);
  layout->addLayout(m_titles, 1);
  layout->addLayout(m_buttons);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

QSize PaneHeader::sizeHint() const { return {QWidget::sizeHint().width(), fontMetrics().height() + 14}; }

QSize PaneHeader::minimumSizeHint() const { return {0, sizeHint().height()}; }

void PaneHeader::addTitle(QWidget* widget, int stretch) { m_titles->addWidget(widget, stretch); }

void PaneHeader::addWidget(QWidget* widget) { m_buttons->addWidget(widget); }

QToolButton* PaneHeader::addAction(QAction* action) {
  auto* button = new QToolButton(this);
  button->setDefaultAction(action);
  button->setAutoRaise(true);
  button->setToolButtonStyle(action->text().isEmpty() ? Qt::ToolButtonIconOnly
                                                      : Qt::ToolButtonTextBesideIcon);
  button->setFocusPolicy(Qt::TabFocus);
  m_buttons->addWidget(button);
  return button;
}

void PaneHeader::paintEvent(QPaintEvent*) {
  const Theme theme(palette());
  QPainter painter(this);
  painter.fillRect(rect(), theme.margin);
  painter.setPen(theme.separator);
  painter.drawLine(rect().bottomLeft(), rect().bottomRight());
}

}  // namespace traceback::views
