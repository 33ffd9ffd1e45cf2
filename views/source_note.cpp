#include "views/source_note.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QToolButton>

#include "views/icons.h"
#include "views/theme.h"

namespace traceback::views {
namespace {

constexpr int kIconSize = 16;

}  // namespace

SourceNote::SourceNote(QWidget* parent)
    : QWidget(parent), m_icon(new QLabel(this)), m_text(new QLabel(this)) {
  m_text->setTextFormat(Qt::RichText);
  m_text->setWordWrap(true);
  m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* locate = new QToolButton(this);
  locate->setText(tr("Locate Source\u2026"));
  locate->setToolTip(tr("Say where the source that was compiled is"));
  locate->setAutoRaise(true);
  locate->setFocusPolicy(Qt::TabFocus);
  connect(locate, &QToolButton::clicked, this, &SourceNote::locateRequested);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(8, 3, 4, 4);
  layout->setSpacing(8);
  layout->addWidget(m_icon, 0, Qt::AlignTop);
  layout->addWidget(m_text, 1);
  layout->addWidget(locate, 0, Qt::AlignTop);
  paintIcon();
  hide();
}

void SourceNote::setText(const QString& headline, const QString& text) {
  m_plain = headline.isEmpty() ? QString() : headline + u' ' + text;
  m_text->setText(QStringLiteral("<b>%1</b> %2").arg(headline.toHtmlEscaped(), text.toHtmlEscaped()));
  m_text->setAccessibleName(m_plain);
  setVisible(!m_plain.isEmpty());
}

QString SourceNote::text() const { return m_plain; }

void SourceNote::paintIcon() {
  m_icon->setPixmap(icon(QStringLiteral("warning"), Theme(palette()).faultMark).pixmap(kIconSize));
}

void SourceNote::paintEvent(QPaintEvent*) {
  const Theme theme(palette());
  QPainter painter(this);
  painter.fillRect(rect(), theme.fault);
  painter.setPen(theme.separator);
  painter.drawLine(rect().bottomLeft(), rect().bottomRight());
}

void SourceNote::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) paintIcon();
}

}  // namespace traceback::views
