#include "app/viewer/seek_actions.h"

#include <QAction>

#include "app/viewer/shortcuts.h"
#include "model/executions.h"
#include "model/instruction_steps.h"
#include "views/common/formatting.h"

namespace traceback::app {
namespace {

using views::Finder;

struct Word {
  const char* name;
  const char* text;
  const char* tip;
  QKeyCombination key;
};

// A letter for the next, its capital for the one before.
constexpr std::array<Word, 8> kWords = {{
    {"previousLine", QT_TRANSLATE_NOOP("traceback::app::SeekActions", "Previous Execution of This &Line"),
     QT_TRANSLATE_NOOP("traceback::app::SeekActions", "Back to the last time before that this line ran"),
     Qt::SHIFT | Qt::Key_L},
    {"nextLine", QT_TRANSLATE_NOOP("traceback::app::SeekActions", "Next Execution of This L&ine"),
     QT_TRANSLATE_NOOP("traceback::app::SeekActions", "Forward to the next time that this line ran"),
     QKeyCombination(Qt::Key_L)},
    {"previousFunction", QT_TRANSLATE_NOOP("traceback::app::SeekActions", "Previous &Call of This Function"),
     QT_TRANSLATE_NOOP("traceback::app::SeekActions", "Back to the call before of this function"),
     Qt::SHIFT | Qt::Key_C},
    {"nextFunction", QT_TRANSLATE_NOOP("traceback::app::SeekActions", "Next C&all of This Function"),
     QT_TRANSLATE_NOOP("traceback::app::SeekActions", "Forward to the next call of this function"),
     QKeyCombination(Qt::Key_C)},
    {"previousEvent", QT_TRANSLATE_NOOP("traceback::app::SeekActions", "Previous &Event"),
     QT_TRANSLATE_NOOP("traceback::app::SeekActions",
                       "Back to the event before of the kind that one stands at; on a line, of any kind"),
     Qt::SHIFT | Qt::Key_E},
    {"nextEvent", QT_TRANSLATE_NOOP("traceback::app::SeekActions", "&Next Event"),
     QT_TRANSLATE_NOOP("traceback::app::SeekActions",
                       "Forward to the next event of the kind that one stands at; on a line, of any kind"),
     QKeyCombination(Qt::Key_E)},
    {"runBackToCursor", QT_TRANSLATE_NOOP("traceback::app::SeekActions", "Run Bac&k to Cursor"),
     QT_TRANSLATE_NOOP("traceback::app::SeekActions",
                       "Back to the last time before that the line with the text cursor ran"),
     Qt::SHIFT | Qt::Key_U},
    {"runToCursor", QT_TRANSLATE_NOOP("traceback::app::SeekActions", "&Run to Cursor"),
     QT_TRANSLATE_NOOP("traceback::app::SeekActions",
                       "Forward to the next time that the line with the text cursor ran"),
     QKeyCombination(Qt::Key_U)},
}};

}  // namespace

SeekActions::SeekActions(views::Navigator& navigator, views::CodePane& code, QObject* parent)
    : QObject(parent), m_navigator(&navigator), m_code(&code), m_finder(navigator) {
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    auto* made = new QAction(tr(kWords[i].text), this);
    made->setObjectName(QString::fromLatin1(kWords[i].name));
    made->setShortcut(kWords[i].key);
    made->setStatusTip(tr(kWords[i].tip));
    showKeysInToolTip(*made);
    const auto what = static_cast<What>(i / 2);
    const auto direction = i % 2 == 0 ? Finder::Direction::Backward : Finder::Direction::Forward;
    connect(made, &QAction::triggered, this, [this, what, direction] { seek(what, direction); });
    m_actions[i] = made;
  }
  connect(&m_finder, &Finder::started, this,
          [this](const QString& what) { emit message(tr("Looking for %1\u2026").arg(what)); });
  connect(&m_finder, &Finder::finished, this, &SeekActions::message);
  connect(m_code, &views::CodePane::refreshed, this, &SeekActions::update);
  update();
}

QAction* SeekActions::action(What what, Finder::Direction direction) const {
  return m_actions[2 * static_cast<std::size_t>(what) + (direction == Finder::Direction::Forward ? 1 : 0)];
}

void SeekActions::update() {
  const auto entry = m_navigator->entry();
  const bool line = entry && entry->kind == model::EntryKind::Line &&
                    ((entry->file.valid() && entry->line != 0) || entry->address.value != 0);
  const bool can[] = {line, entry && entry->function.valid(), entry.has_value(),
                      m_code->showsSource() || m_code->showsDisassembly()};
  for (std::size_t i = 0; i < m_actions.size(); ++i) m_actions[i]->setEnabled(can[i / 2]);
}

void SeekActions::seek(What what, Finder::Direction direction) {
  const auto entry = m_navigator->entry();
  if (!entry) return;
  const model::Trace& trace = *m_navigator->trace();
  const model::ThreadTrace& thread = *m_navigator->thread();
  const model::EntryIndex at = *m_navigator->entryIndex();
  switch (what) {
    case Line:
      if (m_code->showsDisassembly() || !entry->file.valid() || entry->line == 0) {
        const model::VirtAddr address =
            m_navigator->instruction().value_or(model::standingInstruction(*entry).value_or(entry->address));
        return m_finder.find(model::AddressQuery{entry->module, address},
                             tr("the instruction at %1").arg(views::hex(address.value)), direction);
      }
      return seekLine(entry->file, entry->line, direction);
    case Function: {
      const model::Function* function = trace.function(entry->function);
      if (function == nullptr) return;
      model::FunctionQuery query;
      // A function may have several bodies and be inlined besides.
      for (std::uint32_t i = 0; i < trace.functions.size(); ++i)
        if (trace.functions[i].name == function->name) query.functions.push_back({i});
      // Back from the beginning of this call: to get there is what "back out" is for.
      const auto calls = model::activeCalls(thread, at);
      const bool back = direction == Finder::Direction::Backward;
      const auto start = back && !calls.empty() ? calls.front().call.value_or(calls.front().first) : at;
      return m_finder.find(query, views::shortFunctionName(trace, entry->function), direction, start);
    }
    case Event:
      switch (entry->kind) {
        case model::EntryKind::Signal:
          return m_finder.find(model::SignalQuery{}, tr("a signal"), direction);
        case model::EntryKind::Exception:
          return m_finder.find(model::ExceptionQuery{}, tr("an exception"), direction);
        case model::EntryKind::Gap:
          return m_finder.find(model::GapQuery{}, tr("a gap"), direction);
        default:
          return m_finder.find(model::AnyEventQuery{}, tr("an event"), direction);
      }
    case Cursor:
      if (const auto target = m_code->cursorTarget()) seekTarget(*target, direction);
      return;
  }
}

void SeekActions::seekLine(model::FileId file, std::uint32_t line, Finder::Direction direction) {
  const model::SourceFile* source = m_navigator->trace()->file(file);
  const auto at = m_navigator->entryIndex();
  if (source == nullptr || !at) return;
  // In the middle of an execution of the line, the one before it is meant.
  const model::Entry here = *m_navigator->entry();
  const bool back = direction == Finder::Direction::Backward;
  const auto start = back && here.file == file && here.line == line
                         ? model::executionStart(*m_navigator->thread(), *at)
                         : *at;
  m_finder.find(model::LineQuery{file, line, true},
                QStringLiteral("%1:%2").arg(views::fileName(source->path)).arg(line), direction, start);
}

void SeekActions::seekInView(int line, Finder::Direction direction) {
  if (const auto target = m_code->target(line); target && m_navigator->entry())
    seekTarget(*target, direction);
}

void SeekActions::seekTarget(const views::CodePane::Target& target, Finder::Direction direction) {
  if (const auto* line = std::get_if<model::LineQuery>(&target.query))
    return seekLine(line->file, line->line, direction);
  const auto& wanted = std::get<model::AddressQuery>(target.query);
  const model::Entry here = *m_navigator->entry();
  const auto standing =
      m_navigator->instruction() ? m_navigator->instruction() : model::standingInstruction(here);
  // Further on in the entry where one stands, or further back in it.
  if (here.module == wanted.module && standing &&
      m_navigator->thread()->ranIn(*m_navigator->entryIndex(), here, wanted.address) &&
      (direction == Finder::Direction::Forward ? wanted.address > *standing : wanted.address < *standing))
    return m_navigator->standAt(*m_navigator->entryIndex(), wanted.address);
  m_finder.find(wanted, target.what, direction);
}

}  // namespace traceback::app
