#include "views/code_pane.h"

#include <QAction>
#include <QEvent>
#include <QFileInfo>
#include <QLabel>
#include <QScrollBar>
#include <QStackedWidget>
#include <QToolButton>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>

#include "model/instruction_steps.h"
#include "model/stepping.h"
#include "views/code_view.h"
#include "views/elided_label.h"
#include "views/executions_popup.h"
#include "views/find_bar.h"
#include "views/formatting.h"
#include "views/icons.h"
#include "views/pane_header.h"
#include "views/source_highlighter.h"
#include "views/theme.h"

namespace traceback::views {
namespace {

// How far back to look for a line whose code stands for an event.
constexpr int kLinesBack = 16;
// Bytes shown around an address that no known function contains, and the most that are shown of one.
constexpr std::uint64_t kAround = 64;
constexpr std::uint64_t kMostCode = 1 << 20;

void setDim(QLabel* label) {
  QPalette palette = label->parentWidget()->palette();
  palette.setColor(QPalette::WindowText, Theme(palette).dimText);
  label->setPalette(palette);
}

}  // namespace

CodePane::CodePane(Navigator& navigator, SourceCache& sources, QWidget* parent)
    : QWidget(parent),
      m_navigator(&navigator),
      m_sources(&sources),
      m_stepper(navigator),
      m_survey(navigator),
      m_title(new QLabel(this)),
      m_detail(new ElidedLabel(this)),
      m_doubt(new QLabel(this)),
      m_function(new QLabel(this)),
      m_disassemblyAction(new QAction(icon(QStringLiteral("disassembly")), tr("&Disassembly"), this)),
      m_stack(new QStackedWidget(this)),
      m_source(new CodeView(this)),
      m_assembly(new CodeView(this)),
      m_executions(new ExecutionsPopup(navigator, m_source)),
      m_noticePage(new QWidget(this)),
      m_noticeTitle(new QLabel(m_noticePage)),
      m_noticeText(new QLabel(m_noticePage)),
      m_noticeLocate(new QToolButton(m_noticePage)),
      m_find(new FindBar(this)),
      m_highlighter(new SourceHighlighter(m_source->document())) {
  m_source->setObjectName(QStringLiteral("source"));
  m_source->setAccessibleName(tr("Source"));
  m_assembly->setObjectName(QStringLiteral("disassembly"));
  m_assembly->setAccessibleName(tr("Disassembly"));

  m_disassemblyAction->setCheckable(true);
  m_disassemblyAction->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_D));
  m_disassemblyAction->setObjectName(QStringLiteral("disassembly"));
  m_disassemblyAction->setStatusTip(tr("Show instructions instead of source, and step by instruction"));
  connect(m_disassemblyAction, &QAction::toggled, this, &CodePane::refresh);

  QFont bold = m_title->font();
  bold.setBold(true);
  m_title->setFont(bold);
  m_detail->setAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  setDim(m_detail);
  setDim(m_function);
  auto* header = new PaneHeader(this);
  header->addTitle(m_title, 0);
  header->addTitle(m_detail, 1);
  header->addWidget(m_doubt);
  m_doubt->setAccessibleName(tr("Why this may not be the source that was compiled"));
  m_doubt->setTextFormat(Qt::PlainText);
  m_doubt->hide();
  header->addWidget(m_function);
  m_locate = new QToolButton(this);
  m_locate->setText(tr("Locate Source\u2026"));
  m_locate->setToolTip(tr("Say where the source of this function is"));
  m_locate->setAutoRaise(true);
  m_locate->setFocusPolicy(Qt::TabFocus);
  header->addWidget(m_locate);
  header->addAction(m_disassemblyAction);
  connect(m_locate, &QToolButton::clicked, this, [this] { emit locateRequested(m_missingSource); });
  connect(m_noticeLocate, &QToolButton::clicked, this, [this] { emit locateRequested(m_missingSource); });

  m_noticeLocate->setText(tr("Locate Source\u2026"));
  QFont large = bold;
  large.setPointSizeF(large.pointSizeF() * 1.2);
  m_noticeTitle->setFont(large);
  for (QLabel* label : {m_noticeTitle, m_noticeText}) {
    label->setAlignment(Qt::AlignCenter);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  }
  m_noticePage->setAutoFillBackground(true);
  m_noticePage->setBackgroundRole(QPalette::Base);
  auto* page = new QVBoxLayout(m_noticePage);
  page->setContentsMargins(32, 16, 32, 16);
  page->addStretch(1);
  page->addWidget(m_noticeTitle);
  page->addWidget(m_noticeText);
  page->addWidget(m_noticeLocate, 0, Qt::AlignCenter);
  page->addStretch(2);

  m_stack->addWidget(m_source);
  m_stack->addWidget(m_assembly);
  m_stack->addWidget(m_noticePage);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(header);
  layout->addWidget(m_stack, 1);
  layout->addWidget(m_find);

  connect(m_source, &CodeView::lineActivated, this, &CodePane::sourceLineActivated);
  connect(m_assembly, &CodeView::lineActivated, this, &CodePane::instructionActivated);
  for (CodeView* view : {m_source, m_assembly})
    connect(view, &CodeView::executionRequested, this, &CodePane::executionRequested);
  connect(m_source, &CodeView::lineHovered, this,
          [this](int line, const QRect& where) { hovered(line, where, false); });
  connect(&m_survey, &LineSurvey::changed, this, [this] {
    if (showsSource()) markSource();
  });
  connect(m_navigator, &Navigator::moved, this, &CodePane::refresh);
  connect(m_navigator, &Navigator::traceChanged, this, [this] {
    m_executed.clear();
    m_executions->hide();
    m_shownFile = {};
    m_shownModule = {};
    m_instructions.clear();
  });
}

void CodePane::setDisassembly(std::shared_ptr<DisassemblyProvider> provider) {
  m_provider = std::move(provider);
  m_stepper.setProvider(m_provider);
  m_shownModule = {};
}

bool CodePane::showsDisassembly() const { return m_stack->currentWidget() == m_assembly; }
bool CodePane::showsSource() const { return m_stack->currentWidget() == m_source; }

QString CodePane::notice() const {
  return m_stack->currentWidget() == m_noticePage ? m_noticeTitle->text() + u'\n' + m_noticeText->text()
                                                  : QString();
}

void CodePane::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() != QEvent::PaletteChange && event->type() != QEvent::ApplicationPaletteChange) return;
  setDim(m_detail);
  setDim(m_function);
  colour();
}

void CodePane::colour() {
  if (!m_shownFile.valid()) return;
  const SourceText* text = m_sources->source(m_shownFile);
  if (text != nullptr) m_highlighter->start(text->path, palette(), std::max(0, m_source->currentLine()));
}

std::optional<CodePane::Place> CodePane::codePlace() const {
  const model::ThreadTrace* thread = m_navigator->thread();
  auto index = m_navigator->entryIndex();
  if (thread == nullptr || !index) return std::nullopt;
  for (int i = 0; i < kLinesBack && index; ++i) {
    const model::Entry entry = thread->entry(*index);
    const bool hasCode = (entry.file.valid() && entry.line != 0) ||
                         (entry.kind == model::EntryKind::Line && entry.address.value != 0);
    if (hasCode && entry.kind != model::EntryKind::Gap) return Place{*index, entry, i == 0};
    // What is on the other side of a gap says nothing about this one; but where it only says that the path
    // may go on, it goes on from there.
    if (entry.kind == model::EntryKind::Gap &&
        entry.detail != static_cast<std::uint32_t>(model::GapCause::PathUnknown))
      return std::nullopt;
    index = model::step(*thread, *index, model::Step::Back);
  }
  return std::nullopt;
}

void CodePane::refresh() {
  showPlace();
  emit refreshed();
}

void CodePane::showPlace() {
  m_doubt->hide();
  m_missingSource.clear();
  m_locate->hide();
  const auto place = codePlace();
  if (!place) {
    m_title->clear();
    m_detail->setFullText({});
    m_function->clear();
    const auto entry = m_navigator->entry();
    if (entry && entry->kind == model::EntryKind::Gap)
      showNotice(tr("A gap in the trace"), tr("Here %1.").arg(gapText(entry->detail)), {});
    else if (entry)
      showNotice(tr("No code to show"), tr("What the trace shows here does not say which code ran."), {});
    else
      showNotice(tr("No code to show"), tr("This thread recorded nothing."), {});
    return;
  }
  m_executed.lookAround(*m_navigator->thread(), place->index);
  if (!m_disassemblyAction->isChecked() && showSource(*place)) return;
  if (const model::SourceFile* file = m_navigator->trace()->file(place->entry.file);
      file != nullptr && m_sources->source(place->entry.file) == nullptr)
    m_missingSource = QString::fromStdString(file->path);
  QString why;
  if (showDisassembly(*place, why)) {
    m_locate->setVisible(!m_missingSource.isEmpty());
    return;
  }
  const bool hasFile = !m_missingSource.isEmpty();
  setHeader(views::place(*m_navigator->trace(), place->entry), m_missingSource, *place);
  const QString title = m_disassemblyAction->isChecked() ? tr("The instructions cannot be shown")
                        : hasFile                        ? tr("The source was not found")
                                                         : tr("There is no source for this code");
  showNotice(title,
             (hasFile ? m_missingSource + QStringLiteral("\n\n") : QString()) + why + u'\n' +
                 tr("The trace below goes on to work."),
             m_missingSource);
}

void CodePane::setHeader(const QString& title, const QString& detail, const Place& place) {
  m_title->setText(title);
  m_detail->setFullText(detail);
  const QString name = functionName(*m_navigator->trace(), place.entry.function);
  m_function->setText(fontMetrics().elidedText(shortFunctionName(*m_navigator->trace(), place.entry.function),
                                               Qt::ElideMiddle, 320));
  m_function->setToolTip(name);
}

bool CodePane::showSource(const Place& place) {
  const SourceText* text = m_sources->source(place.entry.file);
  if (text == nullptr) return false;
  const int line = static_cast<int>(std::min<std::uint32_t>(place.entry.line, 1'000'000'000)) - 1;
  const bool other = m_shownFile != place.entry.file;
  if (other) {
    m_shownFile = place.entry.file;
    m_highlighter->stop();
    m_source->setLines(text->lines);
  }
  setHeader(QFileInfo(text->path).fileName(), QFileInfo(text->path).path(), place);
  m_stack->setCurrentWidget(m_source);
  m_sourceModule = place.entry.module;
  m_sourceEntry = place.index;
  showDoubt(place);
  m_find->setView(m_source);
  markSource();
  m_source->setCurrentLine(line < text->lines.size() ? line : -1);
  if (other) colour();
  if (line >= text->lines.size())
    emit message(
        tr("Line %1 is beyond the end of this file: it is not the one that was compiled.").arg(line + 1));
  return true;
}

void CodePane::showDoubt(const Place& place) {
  const QString doubt = m_sources->doubt(place.entry.file, place.entry.module);
  m_doubt->setVisible(!doubt.isEmpty());
  m_doubt->setText(doubt.isEmpty() ? QString() : QStringLiteral("\u26a0 ") + doubt);
  m_doubt->setToolTip(doubt.isEmpty() ? QString()
                                      : tr("Lines may not be where the trace says that they ran."));
}

QString CodePane::doubt() const { return m_doubt->text(); }

void CodePane::markSource() {
  QHash<int, CodeView::Mark> marks;
  const model::ThreadTrace& thread = *m_navigator->thread();
  const ExecutedLines::Round round = m_executed.round(m_sourceEntry);
  for (const auto& [line, executions] : m_executed.lines(m_shownFile)) {
    CodeView::Mark& mark = marks[static_cast<int>(line) - 1];
    mark.hits = executions.size();
    const auto inRound = std::ranges::lower_bound(executions, round.first);
    mark.otherRound = !round.whole && (inRound == executions.end() || *inRound > round.last);
  }
  if (const auto fault = thread.info().fault) {
    const model::Entry entry = thread.entry(*fault);
    if (entry.file == m_shownFile && entry.line != 0) marks[static_cast<int>(entry.line) - 1].fault = true;
  }
  const model::LineCounts* counts = m_survey.counts();
  const auto* withCode = m_survey.linesWithCode(m_sourceModule, m_shownFile);
  if (counts != nullptr && withCode != nullptr)
    for (const std::uint32_t line : *withCode)
      if (counts->of(m_shownFile, line) == 0) marks[static_cast<int>(line) - 1].unreached = true;
  m_source->setMarks(std::move(marks), !m_executed.complete());
}

void CodePane::listExecutions() {
  if (!showsSource()) return;
  const int line = m_source->textCursor().blockNumber();
  hovered(line, m_source->whereIs(line), true);
}

void CodePane::hovered(int line, const QRect& where, bool byKey) {
  const auto number = static_cast<std::uint32_t>(line + 1);
  const CodeView::Mark mark = m_source->mark(line);
  const model::LineCounts* counts = m_survey.counts();
  const std::uint64_t all = counts != nullptr ? counts->of(m_shownFile, number) : 0;
  const QString marked = m_source->markText(line);
  // A line that is known not to have run has nothing to list.
  if (!byKey && mark.hits == 0 && all == 0) {
    m_executions->hide();
    QToolTip::showText(QCursor::pos(), marked, m_source);
    return;
  }
  QStringList heading{tr("Line %1").arg(number)};
  if (!marked.isEmpty()) heading.append(marked);
  if (counts != nullptr)
    heading.append(all == 1 ? tr("In all the trace: once.")
                            : tr("In all the trace: %1 times.").arg(count(all)));
  // The popup lies over the view, its margin included.
  const QPoint corner = m_source->viewport()->mapTo(m_source, QPoint(0, 0));
  m_executions->open(m_shownFile, number, heading.join(u'\n'), where.translated(corner), byKey);
}

std::optional<CodePane::Spot> CodePane::spot() const {
  const SourceText* text = showsSource() ? m_sources->source(m_shownFile) : nullptr;
  if (text == nullptr) return std::nullopt;
  return Spot{text->path, m_source->textCursor().blockNumber() + 1};
}

bool CodePane::showDisassembly(const Place& place, QString& why) {
  const model::Trace& trace = *m_navigator->trace();
  const model::Module* module = trace.module(place.entry.module);
  if (module == nullptr) {
    why = tr("It is not known which module the code is of.");
    return false;
  }
  const QString name = QString::fromStdString(module->name);
  if (!m_provider || place.entry.address.value == 0) {
    why = tr("The instructions of %1 cannot be shown.").arg(name);
    return false;
  }
  // The function that contains the address: what is inlined has no code of its own.
  const model::VirtAddr at = place.entry.address;
  model::VirtAddr start = at;
  model::VirtAddr end{std::max(at.value, place.entry.last.value) + kAround};
  const model::Function* function = nullptr;
  for (const model::Function& f : trace.functions)
    if (f.module == place.entry.module && at >= f.start && at.value - f.start.value < f.size &&
        (function == nullptr || f.size > function->size))
      function = &f;
  if (function != nullptr) {
    start = function->start;
    end = {function->start.value + std::min(function->size, kMostCode)};
  }
  const bool inShown =
      m_shownModule == place.entry.module && !m_instructions.empty() && at >= m_shownStart && at < m_shownEnd;
  if (!inShown) {
    auto instructions = m_provider->disassemble(*module, start, end);
    if (!instructions || instructions->empty()) {
      why = instructions ? tr("The binary %1 has no instructions there.").arg(name)
                         : tr("The instructions cannot be shown either: %1.")
                               .arg(QString::fromStdString(instructions.error().text()));
      return false;
    }
    m_instructions = std::move(*instructions);
    m_shownModule = place.entry.module;
    m_shownStart = start;
    m_shownEnd = end;
    QStringList lines, labels;
    for (const Instruction& instruction : m_instructions) {
      lines.append(instruction.text);
      labels.append(QString::number(instruction.address.value, 16));
    }
    m_assembly->setLines(lines, labels);
  }
  const QString file = views::place(trace, place.entry);
  setHeader(function != nullptr ? shortFunctionName(QString::fromStdString(function->name)) : name,
            tr("instructions of %1").arg(file.isEmpty() ? name : QStringLiteral("%1, %2").arg(name, file)),
            place);
  m_stack->setCurrentWidget(m_assembly);
  m_find->setView(m_assembly);
  markDisassembly(place);
  return true;
}

void CodePane::markDisassembly(const Place& place) {
  QHash<int, CodeView::Mark> marks;
  // Of the instruction that holds the address.
  const auto lineOf = [this](model::VirtAddr address) {
    const auto after = std::ranges::upper_bound(m_instructions, address, {}, &Instruction::address);
    return after == m_instructions.begin() ? -1 : static_cast<int>(after - m_instructions.begin()) - 1;
  };
  for (const ExecutedLines::Range& range : m_executed.ranges()) {
    if (range.module != m_shownModule || range.last < m_shownStart || range.first >= m_shownEnd) continue;
    for (int line = lineOf(range.first);
         line >= 0 && static_cast<std::size_t>(line) < m_instructions.size() &&
         m_instructions[static_cast<std::size_t>(line)].address <= range.last;
         ++line)
      ++marks[line].hits;
  }
  const model::ThreadTrace& thread = *m_navigator->thread();
  if (const auto fault = thread.info().fault) {
    const model::Entry entry = thread.entry(*fault);
    const model::VirtAddr at = std::max(entry.address, entry.last);
    if (entry.module == m_shownModule && at >= m_shownStart && at < m_shownEnd)
      if (const int line = lineOf(at); line >= 0) marks[line].fault = true;
  }
  m_assembly->setMarks(std::move(marks), !m_executed.complete());
  const auto instruction = m_navigator->instruction();
  m_assembly->setCurrentLine(lineOf(
      place.own && instruction ? *instruction
                               : model::standingInstruction(place.entry).value_or(place.entry.address)));
}

void CodePane::showNotice(const QString& title, const QString& text, const QString& missingSource) {
  m_noticeTitle->setText(title);
  m_noticeText->setText(text);
  m_noticeLocate->setVisible(!missingSource.isEmpty());
  m_stack->setCurrentWidget(m_noticePage);
}

bool CodePane::goToNearest(const std::vector<model::EntryIndex>& executions, const QString& what) {
  const auto here = m_navigator->entryIndex();
  if (executions.empty() || !here) {
    emit message(tr("%1 did not run in this call.").arg(what));
    return false;
  }
  const auto distance = [&here](model::EntryIndex entry) {
    return entry > *here ? entry - *here : *here - entry;
  };
  const auto nearest = std::ranges::min_element(executions, {}, distance);
  m_navigator->goTo(m_navigator->threadIndex(), *nearest, Navigator::Remember::Yes);
  const auto number = std::ranges::lower_bound(executions, *nearest) - executions.begin() + 1;
  if (executions.size() > 1)
    emit message(tr("Execution %1 of %2 in this call.")
                     .arg(count(static_cast<std::uint64_t>(number)), count(executions.size())));
  return true;
}

std::optional<CodePane::Target> CodePane::cursorTarget() const {
  return target((showsSource() ? m_source : m_assembly)->textCursor().blockNumber());
}

std::optional<CodePane::Target> CodePane::target(int line) const {
  if (line < 0) return std::nullopt;
  if (showsSource()) {
    const auto number = static_cast<std::uint32_t>(line + 1);
    const model::SourceFile* file = m_navigator->trace()->file(m_shownFile);
    if (file == nullptr) return std::nullopt;
    return Target{model::LineQuery{m_shownFile, number, true},
                  QStringLiteral("%1:%2").arg(fileName(file->path)).arg(number)};
  }
  if (!showsDisassembly() || static_cast<std::size_t>(line) >= m_instructions.size()) return std::nullopt;
  const model::VirtAddr address = m_instructions[static_cast<std::size_t>(line)].address;
  return Target{model::AddressQuery{m_shownModule, address},
                tr("the instruction at %1").arg(hex(address.value))};
}

void CodePane::sourceLineActivated(int line) {
  const auto& lines = m_executed.lines(m_shownFile);
  const auto found = lines.find(static_cast<std::uint32_t>(line + 1));
  goToNearest(found == lines.end() ? std::vector<model::EntryIndex>() : found->second,
              tr("Line %1").arg(line + 1));
}

void CodePane::instructionActivated(int line) {
  if (line < 0 || static_cast<std::size_t>(line) >= m_instructions.size()) return;
  const model::VirtAddr address = m_instructions[static_cast<std::size_t>(line)].address;
  std::vector<model::EntryIndex> executions;
  for (const ExecutedLines::Range& range : m_executed.ranges())
    if (range.module == m_shownModule && range.first <= address && address <= range.last)
      executions.push_back(range.entry);
  if (goToNearest(executions, tr("The instruction at %1").arg(hex(address.value))))
    m_navigator->standAt(*m_navigator->entryIndex(), address);
}

}  // namespace traceback::views
