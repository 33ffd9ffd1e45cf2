// The source around the position: what ran of it in this call, and when.
#include <QFileInfo>
#include <QLabel>
#include <QScrollBar>
#include <QStackedWidget>
#include <QToolTip>
#include <algorithm>

#include "views/common/formatting.h"
#include "views/notes/annotations.h"
#include "views/source/code_pane.h"
#include "views/source/code_view.h"
#include "views/source/executions_popup.h"
#include "views/source/find_bar.h"
#include "views/source/source_highlighter.h"
#include "views/source/source_note.h"

namespace traceback::views {

void CodePane::colour() {
  if (!m_shownFile.valid()) return;
  const SourceText* text = m_sources->source(m_shownFile);
  if (text != nullptr) m_highlighter->start(text->name(), palette(), std::max(0, m_source->currentLine()));
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
  const QString folder = QFileInfo(text->name()).path();
  setHeader(QFileInfo(text->name()).fileName(),
            text->fetched.isEmpty() ? folder : tr("%1, from debuginfod").arg(folder), place);
  m_stack->setCurrentWidget(m_source);
  m_sourceModule = place.entry.module;
  m_sourceEntry = place.index;
  showCheck(place);
  m_find->setView(m_source);
  markSource();
  m_source->setCurrentLine(line < text->lines.size() ? line : -1);
  if (other) colour();
  if (line >= text->lines.size())
    emit message(
        tr("Line %1 is beyond the end of this file: it is not the one that was compiled.").arg(line + 1));
  return true;
}

void CodePane::showCheck(const Place& place) {
  using Verdict = SourceCheck::Verdict;
  const SourceCheck check = m_sources->check(place.entry.file, place.entry.module);
  const bool inHeader = check.verdict == Verdict::Same || check.verdict == Verdict::Doubtful;
  m_check->setVisible(inHeader);
  if (check.verdict == Verdict::Same) {
    m_check->setText(tr("\u2713 as compiled"));
    m_check->setToolTip(check.why);
    m_check->setAccessibleName(tr("This is the source that was compiled: %1").arg(check.why));
  } else if (check.verdict == Verdict::Doubtful) {
    m_check->setText(QStringLiteral("\u26a0 ") + check.why);
    m_check->setToolTip(tr("Lines may not be where the trace says that they ran."));
    m_check->setAccessibleName(tr("This may not be the source that was compiled: %1").arg(check.why));
  } else if (check.verdict == Verdict::Different) {
    m_note->tell(SourceNote::Kind::Warning, tr("This is not the source that was compiled."),
                 tr("%1 Lines may not be where the trace says that they ran.").arg(check.why));
    wantSource(place);
  }
}

// From elsewhere, because it is not here or another version is.
void CodePane::wantSource(const Place& place) {
  if (m_fetcher.want(m_navigator->trace(), place.entry.file, place.entry.module)) showFetching();
}

void CodePane::showFetching() {
  m_note->tell(SourceNote::Kind::Progress, tr("Fetching this source from debuginfod."), m_fetcher.progress());
}

QString CodePane::check() const {
  if (!m_note->text().isEmpty()) return m_note->text();
  return m_check->isHidden() ? QString() : m_check->text();
}

void CodePane::setAnnotations(const Annotations* annotations) {
  m_annotations = annotations;
  connect(annotations, &Annotations::changed, this, [this] {
    if (showsSource() && m_shownFile.valid() && m_navigator->thread() != nullptr) markSource();
  });
}

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
  if (m_annotations != nullptr && m_annotations->trace() == m_navigator->trace())
    for (const Annotation& note : m_annotations->all()) {
      if (!note.reachable()) continue;
      const model::Entry entry = m_navigator->trace()->threads[note.thread.value]->entry(note.entry);
      if (entry.file != m_shownFile || entry.line == 0) continue;
      QString& text = marks[static_cast<int>(entry.line) - 1].note;
      if (text.isNull())
        text = note.text.isNull() ? QStringLiteral("") : note.text;
      else
        text += u'\n' + note.text;
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

void CodePane::sourceLineActivated(int line) {
  const auto& lines = m_executed.lines(m_shownFile);
  const auto found = lines.find(static_cast<std::uint32_t>(line + 1));
  goToNearest(found == lines.end() ? std::vector<model::EntryIndex>() : found->second,
              tr("Line %1").arg(line + 1));
}

}  // namespace traceback::views
