// Which panels there are. To add one, add its entry (and its headers) here.
#include "app/viewer/panels.h"
#include "views/annotations_panel.h"
#include "views/answers_panel.h"
#include "views/side_panels.h"

namespace traceback::app {
namespace {

template <typename Panel>
QWidget* watching(const PanelContext& context) {
  return new Panel(context.navigator, context.parent);
}

constexpr PanelKind kKinds[] = {
    {"threadsDock", QT_TRANSLATE_NOOP("traceback::app::Panels", "Threads"), Qt::LeftDockWidgetArea, true,
     watching<views::ThreadsPanel>},

    {"callsDock", QT_TRANSLATE_NOOP("traceback::app::Panels", "Active calls"), Qt::LeftDockWidgetArea, true,
     watching<views::CallsPanel>},

    {"answersDock", QT_TRANSLATE_NOOP("traceback::app::Panels", "Answers"), Qt::BottomDockWidgetArea, false,
     watching<views::AnswersPanel>},

    {"annotationsDock", QT_TRANSLATE_NOOP("traceback::app::Panels", "Bookmarks"), Qt::BottomDockWidgetArea,
     false,
     [](const PanelContext& context) -> QWidget* {
       return new views::AnnotationsPanel(context.navigator, context.annotations, context.parent);
     }},

    {"notesDock", QT_TRANSLATE_NOOP("traceback::app::Panels", "Notes about this snap"),
     Qt::BottomDockWidgetArea, false, watching<views::NotesPanel>},
};

}  // namespace

std::span<const PanelKind> panelKinds() { return kKinds; }

}  // namespace traceback::app
