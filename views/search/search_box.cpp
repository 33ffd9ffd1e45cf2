#include "views/search/search_box.h"

#include <QAbstractItemView>
#include <QAbstractProxyModel>
#include <QAction>
#include <QCompleter>
#include <QHeaderView>
#include <QKeyEvent>
#include <QTimer>
#include <QTreeView>
#include <utility>

#include "model/query/patterns.h"
#include "views/common/formatting.h"
#include "views/common/icons.h"

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
      m_completer(new QCompleter(&m_model, this)) {
  setObjectName(QStringLiteral("search"));
  setPlaceholderText(tr("Function, file:line, text, command (Ctrl+P)"));
  setAccessibleName(tr("Go to, find, ask or do"));
  setToolTip(
      tr("Enter goes to the last time it ran before now, Shift+Enter to the next time.\n"
         "Views and commands are found by their names, other texts, and \"what is in quotes\",\n"
         "in the sources.\n\n"
         "Questions: calls(FUNCTION), lines(FILE:N), between(PLACE, PLACE), never(PLACE),\n"
         "next or previous func_enter, func_exit, block_entry, exception or signal,\n"
         "with: where stack=<*,outer,inner> and src=<file,line>"));
  setClearButtonEnabled(true);
  addAction(icon(QStringLiteral("search")), QLineEdit::LeadingPosition);
  m_completer->setCaseSensitivity(Qt::CaseInsensitive);
  m_completer->setFilterMode(Qt::MatchContains);
  m_completer->setMaxVisibleItems(kRows);
  auto* list = new QTreeView;
  list->setObjectName(QStringLiteral("offers"));
  list->setAccessibleName(tr("What the text may mean"));
  m_completer->setPopup(list);
  list->setHeaderHidden(true);
  list->setRootIsDecorated(false);
  list->setUniformRowHeights(true);
  list->header()->setStretchLastSection(false);
  list->header()->setSectionResizeMode(SearchModel::kText, QHeaderView::Stretch);
  list->header()->setSectionResizeMode(SearchModel::kWhat, QHeaderView::ResizeToContents);
  list->header()->setResizeContentsPrecision(0);
  // By the mouse; keys come here first.
  connect(m_completer, qOverload<const QModelIndex&>(&QCompleter::activated), this,
          [this](const QModelIndex& row) {
            if (const SearchOffer* offer = offerAt(row); offer != nullptr && offer->number >= 0) take(*offer);
          });
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
  using Kind = SearchOffer::Kind;
  QStringList functions, files;
  if (const auto& trace = m_navigator->trace()) {
    for (const model::Function& function : trace->functions)
      functions.append(QString::fromStdString(function.name));
    for (const model::SourceFile& file : trace->files) files.append(fileName(file.path) + u':');
  }
  std::vector<SearchOffer> offers;
  for (const auto& [names, kind] : {std::pair(&functions, Kind::Function), std::pair(&files, Kind::File)}) {
    names->sort(Qt::CaseInsensitive);
    names->removeDuplicates();
    for (const QString& name : std::as_const(*names)) offers.push_back({kind, name});
  }
  offers.insert(offers.end(), m_offers.begin(), m_offers.end());
  m_model.set(std::move(offers));
}

void SearchBox::setOffers(std::vector<SearchOffer> offers) {
  m_offers = std::move(offers);
  showTrace();
}

const SearchOffer* SearchBox::offerAt(const QModelIndex& completion) const {
  const auto* shown = qobject_cast<const QAbstractProxyModel*>(m_completer->completionModel());
  if (shown == nullptr || !completion.isValid()) return nullptr;
  const int row = shown->mapToSource(completion).row();
  return row >= 0 ? &m_model.offers()[static_cast<std::size_t>(row)] : nullptr;
}

const SearchOffer* SearchBox::named() const {
  const QString wanted = text().trimmed();
  if (const auto& trace = m_navigator->trace())
    for (const model::Function& function : trace->functions) {
      const QString name = QString::fromStdString(function.name);
      if (name == wanted || shortFunctionName(name) == wanted) return nullptr;
    }
  for (const SearchOffer& offer : m_offers)
    if (offer.text.compare(wanted, Qt::CaseInsensitive) == 0) return &offer;
  return nullptr;
}

void SearchBox::take(const SearchOffer& offer) {
  const int number = offer.number;
  // The completer, which may be at work, puts the text in after this.
  QTimer::singleShot(0, this, &QLineEdit::clear);
  emit offerTaken(number);
}

void SearchBox::ask() {
  const auto question = model::parseQuestion(text().toStdString());
  if (question) return emit asked(*question, text().trimmed());
  emit message(QString::fromStdString(question.error().message));
  setCursorPosition(static_cast<int>(
      QString::fromUtf8(text().toUtf8().first(static_cast<qsizetype>(question.error().offset))).size()));
}

void SearchBox::go(Finder::Direction direction, const SearchOffer* chosen) {
  const QString wanted = text().trimmed();
  if (wanted.isEmpty()) return;
  if (chosen != nullptr && chosen->number >= 0) return take(*chosen);
  if (const SearchOffer* offer = named(); offer != nullptr && chosen == nullptr) return take(*offer);
  if (!m_navigator->trace()) return emit message(tr("No snap is open."));
  if (model::looksLikeQuestion(wanted.toStdString())) return ask();
  const bool quoted = wanted.size() > 2 && wanted.startsWith(u'"') && wanted.endsWith(u'"');
  if (quoted) return emit textAsked(wanted.sliced(1, wanted.size() - 2));
  if (const auto target = parse(*m_navigator->trace(), wanted))
    m_finder.find(target->query, target->what, direction);
  else
    emit textAsked(wanted);
}

void SearchBox::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
    QAbstractItemView* list = m_completer->popup();
    const SearchOffer* chosen = list->isVisible() ? offerAt(list->currentIndex()) : nullptr;
    list->hide();
    go((event->modifiers() & Qt::ShiftModifier) != 0 ? Finder::Direction::Forward
                                                     : Finder::Direction::Backward,
       chosen);
    event->accept();
    return;
  }
  if (event->key() == Qt::Key_Escape) {
    m_finder.cancel();
    emit cancelled();
    clear();
  }
  QLineEdit::keyPressEvent(event);
}

}  // namespace traceback::views
