#include "app/viewer/step_actions.h"

#include <QAction>

#include "app/viewer/shortcuts.h"
#include "views/common/icons.h"
#include "views/source/code_pane.h"

namespace traceback::app {
namespace {

struct StepWords {
  model::Step how;
  const char* icon;
  const char* name;
  const char* text;
  const char* tip;
  QList<QKeySequence> keys;
};

// gdb's letters, with the capital for the way back, work wherever no text is typed. The F keys are those that
// most debuggers have; their chords for the way back are left alone, for desktops take them.
const std::array<StepWords, 6>& words() {
  static const std::array<StepWords, 6> kWords = {{
      {model::Step::Into,
       "step",
       "step",
       QT_TRANSLATE_NOOP("traceback::app::StepActions", "&Step"),
       QT_TRANSLATE_NOOP("traceback::app::StepActions", "Forward to the next line that ran, into calls"),
       {Qt::Key_F11, Qt::Key_S}},
      {model::Step::Over,
       "over",
       "over",
       QT_TRANSLATE_NOOP("traceback::app::StepActions", "&Over"),
       QT_TRANSLATE_NOOP("traceback::app::StepActions",
                         "Forward to the next line of this function, over calls"),
       {Qt::Key_F10, Qt::Key_N}},
      {model::Step::Out,
       "out",
       "out",
       QT_TRANSLATE_NOOP("traceback::app::StepActions", "O&ut"),
       QT_TRANSLATE_NOOP("traceback::app::StepActions", "Forward to where the caller goes on"),
       {QKeySequence(Qt::SHIFT | Qt::Key_F11), Qt::Key_F}},
      {model::Step::Back,
       "back",
       "back",
       QT_TRANSLATE_NOOP("traceback::app::StepActions", "&Back"),
       QT_TRANSLATE_NOOP("traceback::app::StepActions", "Back to the line that ran before, into calls"),
       {QKeySequence(Qt::SHIFT | Qt::Key_S)}},
      {model::Step::BackOver,
       "back-over",
       "backOver",
       QT_TRANSLATE_NOOP("traceback::app::StepActions", "Back O&ver"),
       QT_TRANSLATE_NOOP("traceback::app::StepActions",
                         "Back to the line of this function that ran before, over calls"),
       {QKeySequence(Qt::SHIFT | Qt::Key_N)}},
      {model::Step::BackOut,
       "back-out",
       "backOut",
       QT_TRANSLATE_NOOP("traceback::app::StepActions", "Back Ou&t"),
       QT_TRANSLATE_NOOP("traceback::app::StepActions", "Back to the line that called this function"),
       {QKeySequence(Qt::SHIFT | Qt::Key_F)}},
  }};
  return kWords;
}

QAction* make(QObject* parent, const char* icon, const char* name, const QString& text, const QString& tip,
              const QList<QKeySequence>& keys) {
  auto* action = new QAction(views::icon(QString::fromLatin1(icon)), text, parent);
  action->setObjectName(QString::fromLatin1(name));
  action->setShortcuts(keys);
  action->setStatusTip(tip);
  showKeysInToolTip(*action);
  return action;
}

}  // namespace

StepActions::StepActions(views::Navigator& navigator, QObject* parent)
    : QObject(parent), m_navigator(&navigator) {
  for (const StepWords& word : words()) {
    QAction* action = make(this, word.icon, word.name, tr(word.text), tr(word.tip), word.keys);
    connect(action, &QAction::triggered, this, [this, how = word.how] { take(how); });
    m_steps[static_cast<std::size_t>(word.how)] = action;
  }
  m_historyBack = make(this, "history-back", "historyBack", tr("Previous Position"),
                       tr("Where you were before you jumped here"), {QKeySequence(Qt::ALT | Qt::Key_Left)});
  m_historyForward = make(this, "history-forward", "historyForward", tr("Next Position"),
                          tr("Where you were before you went back"), {QKeySequence(Qt::ALT | Qt::Key_Right)});
  m_fault = make(this, "go-fault", "goFault", tr("Go to &Fault"), tr("To where the program faulted"),
                 {QKeySequence(Qt::CTRL | Qt::Key_End)});
  connect(m_historyBack, &QAction::triggered, m_navigator, &views::Navigator::historyBack);
  connect(m_historyForward, &QAction::triggered, m_navigator, &views::Navigator::historyForward);
  connect(m_fault, &QAction::triggered, m_navigator, &views::Navigator::goToFault);
  connect(m_navigator, &views::Navigator::moved, this, &StepActions::update);
  update();
}

QList<QAction*> StepActions::all() const {
  QList<QAction*> actions(m_steps.begin(), m_steps.end());
  actions << m_historyBack << m_historyForward << m_fault;
  return actions;
}

void StepActions::setCodePane(views::CodePane* code) {
  m_code = code;
  connect(m_code, &views::CodePane::refreshed, this, &StepActions::update);
  update();
}

void StepActions::take(model::Step how) {
  if (auto* instructions = m_code != nullptr ? m_code->instructions() : nullptr)
    instructions->step(how);
  else
    m_navigator->step(how);
}

void StepActions::update() {
  const auto* instructions = m_code != nullptr ? m_code->instructions() : nullptr;
  for (const StepWords& word : words())
    step(word.how)->setEnabled(instructions != nullptr ? instructions->canStep(word.how)
                                                       : m_navigator->canStep(word.how));
  m_historyBack->setEnabled(m_navigator->canGoBack());
  m_historyForward->setEnabled(m_navigator->canGoForward());
  m_fault->setEnabled(m_navigator->faultThread().has_value());
}

}  // namespace traceback::app
