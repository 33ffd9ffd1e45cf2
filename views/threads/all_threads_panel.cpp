#include "views/threads/all_threads_panel.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QScopedValueRollback>
#include <QVBoxLayout>

#include "views/threads/all_threads_model.h"
#include "views/threads/order_marks.h"
#include "views/trace/entry_table.h"

namespace traceback::views {

AllThreadsPanel::AllThreadsPanel(Navigator& navigator, SourceCache& sources, QWidget* parent)
    : QWidget(parent),
      m_navigator(&navigator),
      m_model(new AllThreadsModel(sources, this)),
      m_table(new EntryTable(m_model, this)) {
  m_table->setObjectName(QStringLiteral("allThreads"));
  m_table->setAccessibleName(tr("Trace of all threads"));
  m_table->showColumns(
      {kThreadColumn, kFunctionColumn, kPlaceColumn, kWhatColumn, kNoteColumn, AllThreadsModel::kOrderColumn},
      kWhatColumn);
  const int unit = fontMetrics().horizontalAdvance(u'n');
  QHeaderView* header = m_table->horizontalHeader();
  header->resizeSection(kThreadColumn, 12 * unit);
  header->resizeSection(kFunctionColumn, 16 * unit);
  header->resizeSection(kPlaceColumn, 15 * unit);
  header->resizeSection(kNoteColumn, 22 * unit);
  header->resizeSection(AllThreadsModel::kOrderColumn, 14 * unit);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(m_table, 1);
  layout->addWidget(new OrderLegend(this));
  setFocusProxy(m_table);
  m_table->installEventFilter(this);
  connect(m_table, &QTableView::clicked, this, &AllThreadsPanel::activate);
  connect(m_table, &EntryTable::userMoved, this, [this](const QModelIndex& current, bool clicked) {
    const auto place = m_model->placeAt(current);
    if (!place) return;
    {
      const QScopedValueRollback guard(m_leading, true);
      m_navigator->goTo(place->thread, place->entry,
                        clicked ? Navigator::Remember::Yes : Navigator::Remember::No);
    }
    m_model->setPosition(m_navigator->position());
  });
  connect(m_navigator, &Navigator::traceChanged, this, [this] {
    m_stale = true;
    m_model->setTrace(nullptr);
    if (isVisible()) showTrace();
  });
  connect(m_navigator, &Navigator::moved, this, &AllThreadsPanel::showPosition);
}

void AllThreadsPanel::showTrace() {
  m_stale = false;
  m_model->setTrace(m_navigator->trace());
  showPosition();
}

void AllThreadsPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (m_stale)
    showTrace();
  else
    showPosition();
}

void AllThreadsPanel::showPosition() {
  if (m_stale || m_leading || !isVisible()) return;
  const auto position = m_navigator->position();
  m_model->setPosition(position);
  if (position) m_table->stand(m_model->reveal(*position));
}

void AllThreadsPanel::activate(const QModelIndex& index) {
  if (const QModelIndex shown = m_model->showMore(index); shown != index) m_table->stand(shown);
}

bool AllThreadsPanel::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Return || key == Qt::Key_Enter) {
      activate(m_table->currentIndex());
      return true;
    }
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace traceback::views
