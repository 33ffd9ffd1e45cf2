#include "views/source/source_note.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QToolButton>

#include "views/common/icons.h"
#include "views/common/theme.h"

namespace traceback::views {
namespace {

constexpr int kIconSize = 16;

}  // namespace

SourceNote::SourceNote(QWidget* parent)
    : QWidget(parent), m_icon(new QLabel(this)), m_text(new QLabel(this)), m_button(new QToolButton(this)) {
  m_text->setTextFormat(Qt::RichText);
  m_text->setWordWrap(true);
  m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_button->setAutoRaise(true);
  m_button->setFocusPolicy(Qt::TabFocus);
  connect(m_button, &QToolButton::clicked, this, [this] {
    if (m_kind == Kind::Warning)
      emit locateRequested();
    else
      emit cancelRequested();
  });
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(8, 3, 4, 4);
  layout->setSpacing(8);
  layout->addWidget(m_icon);
  layout->addWidget(m_text, 1);
  layout->addWidget(m_button);
  showKind();
  hide();
}

void SourceNote::tell(Kind kind, const QString& headline, const QString& text) {
  m_kind = kind;
  m_plain = headline + u' ' + text;
  m_text->setText(QStringLiteral("<b>%1</b> %2").arg(headline.toHtmlEscaped(), text.toHtmlEscaped()));
  m_text->setAccessibleName(m_plain);
  showKind();
  show();
}

void SourceNote::clear() {
  m_plain.clear();
  hide();
}

void SourceNote::showKind() {
  const Theme theme(palette());
  const bool warning = m_kind == Kind::Warning;
  m_button->setText(warning ? tr("Locate Source\u2026") : tr("Cancel"));
  m_button->setToolTip(warning ? tr("Say where the source that was compiled is")
                               : tr("Do without this source"));
  m_icon->setPixmap(icon(warning ? QStringLiteral("warning") : QStringLiteral("down"),
                         warning ? theme.faultMark : theme.infoMark)
                        .pixmap(kIconSize));
  update();
}

void SourceNote::paintEvent(QPaintEvent*) {
  const Theme theme(palette());
  QPainter painter(this);
  painter.fillRect(rect(), m_kind == Kind::Warning ? theme.fault : theme.margin);
  painter.setPen(theme.separator);
  painter.drawLine(rect().bottomLeft(), rect().bottomRight());
}

void SourceNote::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) showKind();
}

}  // namespace traceback::views
