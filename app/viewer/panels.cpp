#include "app/viewer/panels.h"

#include <QAction>
#include <QCoreApplication>
#include <QDockWidget>
#include <QLabel>
#include <QMainWindow>
#include <QToolButton>

#include "views/common/icons.h"
#include "views/common/pane_header.h"

namespace traceback::app {

Panels::Panels(QMainWindow& host, const PanelContext& context) {
  for (const PanelKind& kind : panelKinds()) {
    const QString title = QCoreApplication::translate("traceback::app::Panels", kind.title);
    auto* dock = new QDockWidget(title, context.parent);
    dock->setObjectName(QString::fromLatin1(kind.name));
    QWidget* widget = kind.make(context);
    dock->setWidget(widget);
    auto* header = new views::PaneHeader(dock);
    header->addTitle(new QLabel(title, header));
    auto* close = new QAction(views::icon(QStringLiteral("close")), QString(), dock);
    close->setToolTip(QCoreApplication::translate("traceback::app::Panels", "Close %1").arg(title));
    QObject::connect(close, &QAction::triggered, dock, &QWidget::close);
    header->addAction(close)->setAccessibleName(close->toolTip());
    dock->setTitleBarWidget(header);
    host.addDockWidget(kind.area, dock);
    // By this its keys are remembered.
    dock->toggleViewAction()->setObjectName(dock->objectName());
    m_docks.append(dock);
    m_widgets.append(widget);
  }
}

QDockWidget* Panels::dock(const QString& name) const {
  for (QDockWidget* dock : m_docks)
    if (dock->objectName() == name) return dock;
  return nullptr;
}

QDockWidget* Panels::dockOf(const QWidget* panel) const {
  const qsizetype at = m_widgets.indexOf(panel);
  return at < 0 ? nullptr : m_docks[at];
}

}  // namespace traceback::app
