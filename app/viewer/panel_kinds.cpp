// Which panels there are. To add one, add its entry (and its headers) here.
#include "app/viewer/incoming/incoming_panel.h"
#include "app/viewer/panels.h"
#include "views/history/history_panel.h"
#include "views/notes/annotations_panel.h"
#include "views/search/answers_panel.h"
#include "views/threads/all_threads_panel.h"
#include "views/threads/lanes_panel.h"
#include "views/threads/side_by_side.h"
#include "views/threads/waits_model.h"
#include "views/trace/side_panels.h"
#include "views/values/values_panel.h"

namespace traceback::app {
namespace {

template <typename Panel>
QWidget* watching(const PanelContext& context) {
  return new Panel(context.navigator, context.parent);
}

template <typename Panel>
QWidget* reading(const PanelContext& context) {
  return new Panel(context.navigator, context.sources, context.parent);
}

QWidget* lanes(const PanelContext& context) {
  auto* panel = new views::LanesPanel(context.navigator, context.parent);
  QObject::connect(panel, &views::LanesPanel::message, panel, context.message);
  return panel;
}

constexpr PanelKind kKinds[] = {
    {"threadsDock", QT_TRANSLATE_NOOP("traceback::app::Panels", "Threads"), Qt::LeftDockWidgetArea, false,
     watching<views::ThreadsPanel>},

    {"callsDock", QT_TRANSLATE_NOOP("traceback::app::Panels", "Active calls"), Qt::LeftDockWidgetArea, false,
     watching<views::CallsPanel>},

    {"valuesDock", QT_TRANSLATE_NOOP("traceback::app::Panels", "Values"), Qt::LeftDockWidgetArea, false,
     [](const PanelContext& context) -> QWidget* {
       return new views::ValuesPanel(context.navigator, context.values, context.parent);
     }},

    {"waitsDock", QT_TRANSLATE_NOOP("traceback::app::Panels", "Where the threads stand"),
     Qt::BottomDockWidgetArea, false, reading<views::WaitsPanel>},

    {"lanesDock", QT_TRANSLATE_NOOP("traceback::app::Panels", "Threads over time"), Qt::BottomDockWidgetArea,
     false, lanes},

    {"sideBySideDock", QT_TRANSLATE_NOOP("traceback::app::Panels", "Threads side by side"),
     Qt::BottomDockWidgetArea, false, reading<views::SideBySidePanel>},

    {"allThreadsDock", QT_TRANSLATE_NOOP("traceback::app::Panels", "Trace of all threads"),
     Qt::BottomDockWidgetArea, false, reading<views::AllThreadsPanel>},

    {"historyDock", QT_TRANSLATE_NOOP("traceback::app::Panels", "Before the trace"), Qt::BottomDockWidgetArea,
     false, watching<views::HistoryPanel>},

    {"answersDock", QT_TRANSLATE_NOOP("traceback::app::Panels", "Answers"), Qt::BottomDockWidgetArea, true,
     reading<views::AnswersPanel>},

    {"annotationsDock", QT_TRANSLATE_NOOP("traceback::app::Panels", "Bookmarks"), Qt::BottomDockWidgetArea,
     false,
     [](const PanelContext& context) -> QWidget* {
       return new views::AnnotationsPanel(context.navigator, context.annotations, context.parent);
     }},

    {"notesDock", QT_TRANSLATE_NOOP("traceback::app::Panels", "Notes about this snap"),
     Qt::BottomDockWidgetArea, true, watching<views::NotesPanel>},

    {"incomingDock", QT_TRANSLATE_NOOP("traceback::app::Panels", "Incoming snaps"), Qt::BottomDockWidgetArea,
     true,
     [](const PanelContext& context) -> QWidget* {
       return new IncomingPanel(context.incoming, context.parent);
     }},
};

}  // namespace

std::span<const PanelKind> panelKinds() { return kKinds; }

}  // namespace traceback::app
