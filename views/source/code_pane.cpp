#include "views/source/code_pane.h"

#include <QAction>
#include <QEvent>
#include <QFileInfo>
#include <QLabel>
#include <QScrollBar>
#include <QStackedWidget>
#include <QTimer>
#include <QToolButton>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>

#include "model/instruction_steps.h"
#include "model/stepping.h"
#include "views/common/elided_label.h"
#include "views/common/formatting.h"
#include "views/common/icons.h"
#include "views/common/pane_header.h"
#include "views/common/theme.h"
#include "views/source/code_view.h"
#include "views/source/executions_popup.h"
#include "views/source/find_bar.h"
#include "views/source/source_highlighter.h"
#include "views/source/source_note.h"

namespace traceback::views {
namespace {

// How far back to look for a line whose code stands for an event.
constexpr int kLinesBack = 16;

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
      m_fetcher(sources),
      m_title(new QLabel(this)),
      m_detail(new ElidedLabel(this)),
      m_check(new QLabel(this)),
      m_function(new QLabel(this)),
      m_disassemblyAction(new QAction(icon(QStringLiteral("disassembly")), tr("&Disassembly"), this)),
      m_note(new SourceNote(this)),
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
  m_function->setContentsMargins(0, 0, 6, 0);  // the button beside it has a frame when it is down
  auto* header = new PaneHeader(this);
  header->addTitle(m_title, 0);
  header->addTitle(m_detail, 1);
  header->addWidget(m_check);
  m_check->setTextFormat(Qt::PlainText);
  m_check->hide();
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
  connect(m_note, &SourceNote::locateRequested, this, [this] {
    const model::SourceFile* file = m_navigator->trace()->file(m_shownFile);
    if (file != nullptr) emit locateRequested(QString::fromStdString(file->path));
  });

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
  layout->addWidget(m_note);
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
  connect(m_note, &SourceNote::cancelRequested, this, [this] {
    m_fetcher.cancel();
    refresh();
  });
  connect(&m_fetcher, &SourceFetcher::progressed, this, &CodePane::showFetching);
  connect(&m_fetcher, &SourceFetcher::ended, this, [this](model::FileId file, const QString& error) {
    if (m_shownFile == file) m_shownFile = {};
    if (!error.isEmpty()) emit message(tr("The source was not fetched: %1").arg(error));
    refresh();
    if (error.isEmpty()) emit sourceFetched();
  });
  connect(m_navigator, &Navigator::moved, this, [this] {
    m_lookedAt.reset();
    refresh();
  });
  connect(m_navigator, &Navigator::traceChanged, this, [this] {
    m_lookedAt.reset();
    m_executed.clear();
    m_executions->hide();
    m_shownFile = {};
    m_shownModule = {};
    m_instructions.clear();
    m_fetcher.forget();
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
  // The header's palette follows this one's.
  QTimer::singleShot(0, this, [this] {
    setDim(m_detail);
    setDim(m_function);
    colour();
  });
}

std::optional<CodePane::Place> CodePane::codePlace() const {
  const model::ThreadTrace* thread = m_navigator->thread();
  auto index = m_navigator->entryIndex();
  if (thread == nullptr || !index) return std::nullopt;
  if (m_lookedAt) return Place{*index, *m_lookedAt, false};
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
    // A signal or an exception comes in a function: what that called and is back from is none of it.
    const bool met = entry.kind == model::EntryKind::Signal || entry.kind == model::EntryKind::Exception;
    const auto inFunction = met ? model::step(*thread, *index, model::Step::BackOver) : std::nullopt;
    index = inFunction ? inFunction : model::step(*thread, *index, model::Step::Back);
  }
  return std::nullopt;
}

void CodePane::lookAt(const model::Entry& code) {
  m_lookedAt = code;
  refresh();
}

void CodePane::refresh() {
  showPlace();
  emit refreshed();
}

void CodePane::showPlace() {
  m_check->hide();
  m_note->clear();
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
  if (!m_missingSource.isEmpty()) wantSource(*place);
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

void CodePane::showNotice(const QString& title, const QString& text, const QString& missingSource) {
  m_noticeTitle->setText(title);
  m_noticeText->setText(text);
  m_noticeLocate->setVisible(!missingSource.isEmpty());
  m_stack->setCurrentWidget(m_noticePage);
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

}  // namespace traceback::views
