#include "views/threads/side_by_side.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QScopedValueRollback>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "views/common/elided_label.h"
#include "views/common/formatting.h"
#include "views/common/icons.h"
#include "views/common/pane_header.h"
#include "views/threads/lanes_model.h"
#include "views/threads/order_marks.h"
#include "views/trace/entry_table.h"
#include "views/trace/entry_text.h"
#include "views/trace/flat_model.h"

namespace traceback::views {

ThreadColumn::ThreadColumn(Navigator& navigator, SourceCache& sources, model::ThreadIndex thread,
                           QWidget* parent)
    : QWidget(parent),
      m_navigator(&navigator),
      m_model(new FlatModel(sources, this)),
      m_chooser(new QComboBox(this)),
      m_standing(new ElidedLabel(this)),
      m_table(new EntryTable(m_model, this)) {
  const auto& trace = m_navigator->trace();
  for (std::size_t i = 0; trace && i < trace->threads.size(); ++i)
    m_chooser->addItem(threadName(trace->threads[i]->info(), i + 1));
  m_chooser->setAccessibleName(tr("Thread of this column"));
  m_chooser->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  m_standing->setElideMode(Qt::ElideRight);
  m_standing->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  auto* close = new QToolButton(this);
  close->setIcon(icon(QStringLiteral("close")));
  close->setAutoRaise(true);
  close->setToolTip(tr("Remove this column"));
  close->setAccessibleName(close->toolTip());
  connect(close, &QToolButton::clicked, this, &ThreadColumn::closeRequested);
  m_table->horizontalHeader()->hide();
  m_table->showColumns({kPlaceColumn, kWhatColumn}, kWhatColumn);
  m_table->horizontalHeader()->resizeSection(kPlaceColumn, fontMetrics().horizontalAdvance(u'n') * 16);

  auto* header = new PaneHeader(this);
  header->addTitle(m_chooser, 0);
  header->addTitle(m_standing, 1);
  header->addWidget(close);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(header);
  layout->addWidget(m_table, 1);
  setThread(thread);
  connect(m_chooser, &QComboBox::activated, this,
          [this](int row) { setThread({static_cast<std::uint32_t>(row)}); });
  connect(m_navigator, &Navigator::moved, this, &ThreadColumn::showPosition);
  connect(m_table, &EntryTable::userMoved, this, [this](const QModelIndex& current, bool clicked) {
    const QVariant entry = current.data(kEntryRole);
    if (!entry.isValid()) return;
    const QScopedValueRollback guard(m_leading, true);
    m_navigator->goTo(m_thread, entry.toULongLong(),
                      clicked ? Navigator::Remember::Yes : Navigator::Remember::No);
  });
}

void ThreadColumn::setThread(model::ThreadIndex thread) {
  m_thread = thread;
  m_chooser->setCurrentIndex(static_cast<int>(thread.value));
  m_model->setThread(m_navigator->trace(), thread);
  m_table->setAccessibleName(tr("Trace of thread %1").arg(m_chooser->currentText()));
  showPosition();
}

QString ThreadColumn::standing() const {
  return m_standing->toolTip().isEmpty() ? m_standing->text() : m_standing->toolTip();
}

void ThreadColumn::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  showPosition();
}

// What nobody sees need not follow each step.
void ThreadColumn::showPosition() {
  if (!isVisible()) return;
  const auto position = m_navigator->position();
  const auto& trace = m_navigator->trace();
  if (!trace || m_thread.value >= trace->threads.size()) return;
  if (!position || position->thread == m_thread) {
    m_model->setWhereabouts(std::nullopt);
    m_standing->setFullText(position ? tr("you are here") : QString());
    if (position && !m_leading) m_table->stand(m_model->reveal(position->entry));
    return;
  }
  const model::Whereabouts where = model::whereaboutsAt(*trace, *position, m_thread);
  m_model->setWhereabouts(where);
  m_standing->setFullText(whereaboutsText(where, *trace->threads[m_thread.value]));
  const model::EntryIndex entries = trace->threads[m_thread.value]->entryCount();
  if (entries == 0) return;
  const model::EntryIndex first = std::min(where.first, entries - 1);
  const QModelIndex top = m_model->reveal(first);
  const model::EntryIndex last = std::clamp<model::EntryIndex>(where.end, first + 1, entries) - 1;
  // Of a range larger than what the model holds, as far as it goes.
  const auto rows = static_cast<int>(std::min<model::EntryIndex>(
      last - first, static_cast<model::EntryIndex>(m_model->rowCount() - 1 - top.row())));
  m_table->look(top, m_model->index(top.row() + rows, 0));
}

SideBySidePanel::SideBySidePanel(Navigator& navigator, SourceCache& sources, QWidget* parent)
    : QWidget(parent),
      m_navigator(&navigator),
      m_sources(&sources),
      m_splitter(new QSplitter(Qt::Horizontal, this)),
      m_add(new QToolButton(this)) {
  setObjectName(QStringLiteral("sideBySide"));
  m_add->setText(tr("Add a Thread"));
  m_add->setAutoRaise(true);
  connect(m_add, &QToolButton::clicked, this, &SideBySidePanel::addNext);
  m_splitter->setChildrenCollapsible(false);
  auto* foot = new QHBoxLayout;
  foot->setContentsMargins(0, 0, 4, 0);
  foot->addWidget(new OrderLegend(this), 1);
  foot->addWidget(m_add);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(m_splitter, 1);
  layout->addLayout(foot);
  connect(m_navigator, &Navigator::traceChanged, this, [this] {
    m_stale = true;
    if (isVisible()) reset();
  });
}

void SideBySidePanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (m_stale) reset();
}

void SideBySidePanel::reset() {
  m_stale = false;
  const auto& trace = m_navigator->trace();
  std::vector<std::uint32_t> threads;
  for (std::size_t i = 0; trace && i < trace->threads.size(); ++i)
    threads.push_back(trace->threads[i]->info().tid);
  // More of the same threads: what was chosen stays.
  const bool same = !threads.empty() && threads == m_threads;
  m_threads = std::move(threads);
  if (same) {
    for (ThreadColumn* column : m_columns) column->setThread(column->thread());
    return;
  }
  while (!m_columns.isEmpty()) remove(m_columns.last());
  if (!trace) return;
  for (std::uint32_t i = 0; i < trace->threads.size() && m_columns.size() < kAtFirst; ++i)
    if (trace->threads[i]->entryCount() > 0) addColumn({i});
}

void SideBySidePanel::addColumn(model::ThreadIndex thread) {
  auto* column = new ThreadColumn(*m_navigator, *m_sources, thread, m_splitter);
  m_columns.append(column);
  m_splitter->addWidget(column);
  connect(column, &ThreadColumn::closeRequested, this, [this, column] { remove(column); });
}

// The first thread that has no column yet; the current one, if all have.
void SideBySidePanel::addNext() {
  const auto& trace = m_navigator->trace();
  if (!trace || trace->threads.empty()) return;
  const auto shown = [this](std::uint32_t thread) {
    return std::ranges::any_of(m_columns,
                               [thread](const ThreadColumn* c) { return c->thread().value == thread; });
  };
  for (std::uint32_t i = 0; i < trace->threads.size(); ++i)
    if (!shown(i)) return addColumn({i});
  addColumn(m_navigator->threadIndex());
}

void SideBySidePanel::remove(ThreadColumn* column) {
  m_columns.removeOne(column);
  m_navigator->disconnect(column);  // it goes later, and until then its thread may be another trace's
  column->hide();
  column->deleteLater();
}

}  // namespace traceback::views
