#include "views/common/selection_colors.h"

#include <QApplication>
#include <QEvent>
#include <QScopedValueRollback>

#include "views/common/theme.h"

namespace traceback::views {

SelectionColors::SelectionColors(QAbstractItemView* view) : QObject(view), m_view(view) {
  view->installEventFilter(this);
  apply(view->hasFocus());
}

bool SelectionColors::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_view && !m_applying) {
    if (event->type() == QEvent::FocusIn) apply(true);
    if (event->type() == QEvent::FocusOut) apply(false);
    // The application's palette is still the old one then.
    if (event->type() == QEvent::ApplicationPaletteChange || event->type() == QEvent::PaletteChange)
      QMetaObject::invokeMethod(this, [this] { apply(m_view->hasFocus()); }, Qt::QueuedConnection);
  }
  return QObject::eventFilter(watched, event);
}

void SelectionColors::apply(bool focused) {
  const QScopedValueRollback guard(m_applying, true);
  QPalette palette = QApplication::palette(m_view);
  const QColor highlight = palette.color(QPalette::Active, QPalette::Highlight);
  const QColor soft = mix(palette.color(QPalette::Base), highlight, Theme(palette).dark ? 0.38 : 0.24);
  const QColor text = palette.color(QPalette::Text);
  for (const auto group : {QPalette::Active, QPalette::Inactive}) {
    if (focused && group == QPalette::Active) continue;
    palette.setColor(group, QPalette::Highlight, soft);
    palette.setColor(group, QPalette::HighlightedText, text);
  }
  m_view->setPalette(palette);
}

}  // namespace traceback::views
