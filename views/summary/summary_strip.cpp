#include "views/summary/summary_strip.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>

#include "model/stepping.h"
#include "model/utf8.h"
#include "views/common/elided_label.h"
#include "views/common/formatting.h"
#include "views/common/icons.h"
#include "views/common/theme.h"

namespace traceback::views {
namespace {

// Where the thread at fault stands in the end.
std::optional<model::Entry> faultEntry(const model::Trace& trace) {
  if (trace.threads.empty()) return std::nullopt;
  const model::ThreadTrace& thread = *trace.threads.front();
  const auto at = model::initialPosition(thread);
  return at ? std::optional(thread.entry(*at)) : std::nullopt;
}

QString programName(const model::Trace& trace) {
  if (!trace.summary.program.empty()) return fileName(trace.summary.program);
  // By default the first thread is called like the program.
  if (!trace.threads.empty() && !trace.threads.front()->info().name.empty())
    return QString::fromStdString(trace.threads.front()->info().name);
  return SummaryStrip::tr("unknown program");
}

bool isFault(const model::Trace& trace) {
  return trace.summary.reason == model::TraceReason::Fault ||
         trace.summary.reason == model::TraceReason::Abort;
}

}  // namespace

QString traceTitle(const model::Trace& trace) {
  const QString program = programName(trace);
  if (!isFault(trace)) return QStringLiteral("%1: %2").arg(program, reasonText(trace.summary));
  const QString what =
      trace.summary.faultSignal() != 0 ? signalName(trace.summary.faultSignal()) : SummaryStrip::tr("abort");
  const auto entry = faultEntry(trace);
  if (!entry || !entry->function.valid()) return QStringLiteral("%1: %2").arg(program, what);
  return SummaryStrip::tr("%1: %2 in %3").arg(program, what, shortFunctionName(trace, entry->function));
}

SummaryStrip::SummaryStrip(QWidget* parent)
    : QWidget(parent),
      m_icon(new QLabel(this)),
      m_headline(new ElidedLabel(this)),
      m_details(new ElidedLabel(this)),
      m_thrownFirst(new QToolButton(this)),
      m_notes(new QToolButton(this)) {
  QFont font = m_headline->font();
  font.setBold(true);
  font.setPointSizeF(font.pointSizeF() * 1.12);
  m_headline->setFont(font);
  m_headline->setElideMode(Qt::ElideRight);
  m_details->setElideMode(Qt::ElideRight);
  for (ElidedLabel* label : {m_headline, m_details}) label->setAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  for (QToolButton* button : {m_thrownFirst, m_notes}) {
    button->setAutoRaise(true);
    button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    button->setFocusPolicy(Qt::TabFocus);
  }
  m_thrownFirst->setToolTip(tr("Go to where this exception was thrown first"));
  m_thrownFirst->setAccessibleName(m_thrownFirst->toolTip());
  m_thrownFirst->hide();
  connect(m_thrownFirst, &QToolButton::clicked, this, [this] {
    if (m_firstThrow) emit placeRequested(*m_firstThrow);
  });
  m_notes->setToolTip(tr("Show what was wrong with this snap"));
  connect(m_notes, &QToolButton::clicked, this, &SummaryStrip::notesRequested);

  auto* words = new QVBoxLayout;
  words->setSpacing(1);
  words->addWidget(m_headline);
  words->addWidget(m_details);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(10, 6, 8, 7);
  layout->setSpacing(10);
  layout->addWidget(m_icon);
  layout->addLayout(words, 1);
  layout->addWidget(m_thrownFirst);
  layout->addWidget(m_notes);
}

void SummaryStrip::setTrace(const std::shared_ptr<const model::Trace>& trace) {
  m_notes->setVisible(trace && !trace->report.empty());
  if (!trace) return;
  const model::Trace::Summary& summary = trace->summary;
  m_fault = isFault(*trace);
  QString headline = reasonText(summary);
  if (const auto entry = faultEntry(*trace); entry && entry->function.valid()) {
    const QString where = place(*trace, *entry);
    const QString function = shortFunctionName(*trace, entry->function);
    headline +=
        where.isEmpty() ? tr(" \u2014 in %1").arg(function) : tr(" \u2014 in %1, %2").arg(function, where);
  }
  m_headline->setFullText(headline);

  m_firstThrow = trace->firstThrowOfFault();
  m_thrownFirst->setVisible(m_firstThrow.has_value());
  if (m_firstThrow) {
    const model::ThreadTrace& thread = *trace->threads[m_firstThrow->thread.value];
    m_thrownFirst->setText(tr("Thrown in thread %1, %2")
                               .arg(threadName(thread.info(), m_firstThrow->thread.value + 1),
                                    place(*trace, thread.entry(m_firstThrow->entry))));
    m_thrownFirst->setAccessibleDescription(m_thrownFirst->text());
  }

  QStringList details{programName(*trace)};
  if (summary.pid != 0) details.append(tr("PID %1").arg(summary.pid));
  if (const std::size_t threads = trace->threads.size(); threads != 0)
    details.append(threads == 1 ? tr("1 thread") : tr("%1 threads").arg(count(threads)));
  if (!summary.host.empty()) details.append(tr("on %1").arg(QString::fromStdString(summary.host)));
  if (summary.when.value != 0) details.append(dateTime(summary.when));
  if (!summary.commandLine.empty()) details.append(QString::fromStdString(summary.commandLine));
  if (summary.group && summary.group->members.size() > 1)
    details.append(tr("one of %1 snapped together, group %2")
                       .arg(count(summary.group->members.size()))
                       .arg(QString::fromStdString(model::printable(summary.group->name))));
  m_details->setFullText(details.join(QStringLiteral("  \u00b7  ")));

  bool lost = false;
  for (const model::LoadNote& note : trace->report.notes())
    lost = lost || note.severity != model::Severity::Info;
  const std::size_t notes = trace->report.notes().size();
  const QString number = notes == 1 ? tr("1 note") : tr("%1 notes").arg(count(notes));
  m_notes->setText(lost ? tr("%1, data lost").arg(number) : number);
  m_notes->setProperty("lost", lost);
  applyColors();
}

QString SummaryStrip::headline() const { return m_headline->text(); }
QString SummaryStrip::details() const { return m_details->text(); }
QString SummaryStrip::thrownFirst() const {
  return m_thrownFirst->isHidden() ? QString() : m_thrownFirst->text();
}
QString SummaryStrip::notes() const { return m_notes->isHidden() ? QString() : m_notes->text(); }

void SummaryStrip::applyColors() {
  const Theme theme(palette());
  const int size = fontMetrics().height() * 2 - 6;
  const QIcon shown =
      m_fault ? icon(QStringLiteral("fault"), theme.faultMark) : icon(QStringLiteral("snap"), theme.infoMark);
  m_icon->setPixmap(shown.pixmap(QSize(size, size), devicePixelRatioF()));
  QPalette dim = palette();
  dim.setColor(QPalette::WindowText, theme.dimText);
  m_details->setPalette(dim);
  m_thrownFirst->setIcon(icon(QStringLiteral("go-fault"), theme.faultMark));
  m_notes->setIcon(m_notes->property("lost").toBool() ? icon(QStringLiteral("gap"), theme.warningMark)
                                                      : icon(QStringLiteral("info"), theme.infoMark));
}

void SummaryStrip::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) applyColors();
}

void SummaryStrip::paintEvent(QPaintEvent*) {
  const Theme theme(palette());
  QPainter painter(this);
  painter.fillRect(rect(), m_fault ? mix(palette().color(QPalette::Window), theme.faultMark, 0.10)
                                   : palette().color(QPalette::Window));
  painter.setPen(theme.separator);
  painter.drawLine(rect().bottomLeft(), rect().bottomRight());
}

}  // namespace traceback::views
