// The panels around the code and the trace, each in a dock of its own. A panel is added by an entry in the
// table of panel_kinds.cpp and nothing else: its dock, its entry in the View menu and its key come from
// there. Which are open at first says layouts.cpp.
#pragma once

#include <QList>
#include <QString>
#include <functional>
#include <span>

class QDockWidget;
class QMainWindow;
class QWidget;

namespace traceback::views {
class Annotations;
class EndValues;
class Navigator;
class SourceCache;
}  // namespace traceback::views

namespace traceback::app {

class IncomingSnaps;

// What a panel may use. All of it outlives the panels.
struct PanelContext {
  views::Navigator& navigator;
  views::SourceCache& sources;
  views::Annotations& annotations;
  IncomingSnaps& incoming;
  views::EndValues& values;
  std::function<void(const QString&)> message;  // says something in the status bar
  QWidget* parent = nullptr;
};

struct PanelKind {
  const char* name;         // of the dock; keys and layouts are remembered by it
  const char* title;        // marked with QT_TRANSLATE_NOOP("traceback::app::Panels", ...)
  Qt::DockWidgetArea area;  // where it is at first
  bool onRequest;           // it is shown when there is something in it, and closed at first
  QWidget* (*make)(const PanelContext& context);
};
// In the order of the View menu.
std::span<const PanelKind> panelKinds();

class Panels {
 public:
  // Makes them all, in docks of `host`.
  Panels(QMainWindow& host, const PanelContext& context);

  const QList<QDockWidget*>& docks() const { return m_docks; }
  // Null if there is no such panel.
  QDockWidget* dock(const QString& name) const;
  // The panel of that type, in whichever dock.
  template <typename Panel>
  Panel* find() const {
    for (QWidget* widget : m_widgets)
      if (auto* panel = qobject_cast<Panel*>(widget)) return panel;
    return nullptr;
  }
  // The dock that a panel is in.
  QDockWidget* dockOf(const QWidget* panel) const;

 private:
  QList<QDockWidget*> m_docks;
  QList<QWidget*> m_widgets;  // in the same order
};

}  // namespace traceback::app
