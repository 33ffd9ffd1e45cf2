#include "views/search_box.h"

#include <QAbstractItemView>
#include <QAction>
#include <QCompleter>
#include <QKeyEvent>

#include "model/query/patterns.h"
#include "views/formatting.h"
#include "views/icons.h"

namespace traceback::views {
namespace {

constexpr int kRows = 14;

std::optional<SearchBox::Target> parseLine(const model::Trace& trace, const QString& text) {
  const qsizetype colon = text.lastIndexOf(u':');
  if (colon <= 0) return std::nullopt;
  bool isNumber = false;
  const std::uint32_t line = QStringView(text).sliced(colon + 1).toUInt(&isNumber);
  if (!isNumber || line == 0) return std::nullopt;
  const std::string name = text.first(colon).toStdString();
  for (std::uint32_t i = 0; i < trace.files.size(); ++i) {
    const std::string& path = trace.files[i].path;
    if (!model::pathMatches(name, path)) continue;
    return SearchBox::Target{model::LineQuery{{i}, line},
                             QStringLiteral("%1:%2").arg(fileName(path)).arg(line)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<SearchBox::Target> SearchBox::parse(const model::Trace& trace, const QString& typed) {
  const QString text = typed.trimmed();
  if (text.isEmpty()) return std::nullopt;
  if (auto line = parseLine(trace, text)) return line;
  // Of all functions whose name holds the text, those that it names best: in full, in short, in part.
  std::vector<model::FunctionId> best;
  int bestRank = 4;
  for (std::uint32_t i = 0; i < trace.functions.size(); ++i) {
    const QString name = QString::fromStdString(trace.functions[i].name);
    if (!name.contains(text, Qt::CaseInsensitive)) continue;
    const QString shortName = shortFunctionName(name);
    const int rank = name == text || shortName == text                 ? 0
                     : shortName.endsWith(QStringLiteral("::") + text) ? 1
                     : shortName.startsWith(text, Qt::CaseInsensitive) ? 2
                                                                       : 3;
    if (rank < bestRank) best.clear();
    bestRank = std::min(bestRank, rank);
    // In part it may be in many names; the first that is found stands for it, as the list shows.
    if (rank == bestRank && (rank < 2 || best.empty() || name == functionName(trace, best.front())))
      best.push_back({i});
  }
  if (best.empty()) return std::nullopt;
  return Target{model::FunctionQuery{best}, shortFunctionName(trace, best.front())};
}

SearchBox::SearchBox(Navigator& navigator, QWidget* parent)
    : QLineEdit(parent),
      m_navigator(&navigator),
      m_finder(navigator),
      m_completer(new QCompleter(&m_names, this)) {
  setObjectName(QStringLiteral("search"));
  setPlaceholderText(tr("Function, file:line or question (Ctrl+P)"));
  setAccessibleName(tr("Go to a function or a line"));
  setToolTip(
      tr("Enter goes to the last time it ran before now, Shift+Enter to the next time.\n\n"
         "Questions: calls(FUNCTION), lines(FILE:N), between(PLACE, PLACE), never(PLACE),\n"
         "next or previous func_enter, func_exit, block_entry, exception or signal,\n"
         "with: where stack=<*,outer,inner> and src=<file,line>"));
  setClearButtonEnabled(true);
  addAction(icon(QStringLiteral("search")), QLineEdit::LeadingPosition);
  m_completer->setCaseSensitivity(Qt::CaseInsensitive);
  m_completer->setFilterMode(Qt::MatchContains);
  m_completer->setMaxVisibleItems(kRows);
  setCompleter(m_completer);
  connect(m_navigator, &Navigator::traceChanged, this, &SearchBox::showTrace);
  connect(&m_finder, &Finder::started, this,
          [this](const QString& what) { emit message(tr("Looking for %1\u2026").arg(what)); });
  connect(&m_finder, &Finder::finished, this, &SearchBox::message);
  showTrace();
}

QSize SearchBox::sizeHint() const {
  return {fontMetrics().horizontalAdvance(placeholderText()) + 70, QLineEdit::sizeHint().height()};
}

void SearchBox::showTrace() {
  QStringList names;
  if (const auto& trace = m_navigator->trace())
    for (const model::Function& function : trace->functions)
      names.append(QString::fromStdString(function.name));
  names.sort(Qt::CaseInsensitive);
  names.removeDuplicates();
  m_names.setStringList(names);
  setEnabled(m_navigator->trace() != nullptr);
}

void SearchBox::ask() {
  const auto question = model::parseQuestion(text().toStdString());
  if (question) return emit asked(*question, text().trimmed());
  emit message(QString::fromStdString(question.error().message));
  setCursorPosition(static_cast<int>(
      QString::fromUtf8(text().toUtf8().first(static_cast<qsizetype>(question.error().offset))).size()));
}

void SearchBox::go(Finder::Direction direction) {
  if (!m_navigator->trace()) return;
  if (model::looksLikeQuestion(text().toStdString())) return ask();
  const auto target = parse(*m_navigator->trace(), text());
  if (target)
    m_finder.find(target->query, target->what, direction);
  else if (!text().trimmed().isEmpty())
    emit message(tr("No function and no file in the trace is called %1.").arg(text()));
}

void SearchBox::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
    if (m_completer->popup()->isVisible()) m_completer->popup()->hide();
    go((event->modifiers() & Qt::ShiftModifier) != 0 ? Finder::Direction::Forward
                                                     : Finder::Direction::Backward);
    event->accept();
    return;
  }
  if (event->key() == Qt::Key_Escape) {
    m_finder.cancel();
    clear();
  }
  QLineEdit::keyPressEvent(event);
}

}  // namespace traceback::views
