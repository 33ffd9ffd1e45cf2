#include "views/history/history_panel.h"

#include <QHeaderView>
#include <QLabel>
#include <QSplitter>
#include <QTreeView>
#include <QVBoxLayout>

#include "views/common/formatting.h"
#include "views/common/list_style.h"
#include "views/history/history_model.h"
#include "views/trace/trace_delegate.h"

namespace traceback::views {

HistoryPanel::HistoryPanel(Navigator& navigator, QWidget* parent)
    : QWidget(parent),
      m_navigator(&navigator),
      m_history(new HistoryModel(this)),
      m_places(new HistoryPlacesModel(this)),
      m_note(new QLabel(this)),
      m_stretchList(new QTreeView),
      m_placeList(new QTreeView) {
  m_stretchList->setObjectName(QStringLiteral("stretches"));
  m_stretchList->setAccessibleName(tr("Before the trace"));
  prepareList(m_stretchList, m_history, HistoryModel::kBusiest);
  m_placeList->setObjectName(QStringLiteral("places"));
  m_placeList->setAccessibleName(tr("What ran then"));
  prepareList(m_placeList, m_places, HistoryPlacesModel::kFunction);
  m_note->setMargin(4);
  m_note->setWordWrap(true);
  m_note->setTextFormat(Qt::PlainText);
  auto* lists = new QSplitter(Qt::Horizontal, this);
  lists->addWidget(m_stretchList);
  lists->addWidget(m_placeList);
  lists->setStretchFactor(0, 3);
  lists->setStretchFactor(1, 2);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(m_note);
  layout->addWidget(lists, 1);
  connect(m_stretchList->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          &HistoryPanel::showStretch);
  connect(m_placeList, &QTreeView::clicked, this, &HistoryPanel::show);
  connect(m_placeList, &QTreeView::activated, this, &HistoryPanel::show);
  // To the busiest place of all.
  connect(m_stretchList, &QTreeView::activated, this, [this] { show(m_places->index(0, 0)); });
  connect(m_navigator, &Navigator::traceChanged, this, &HistoryPanel::showThread);
  connect(m_navigator, &Navigator::threadChanged, this, &HistoryPanel::showThread);
  showThread();
}

QString HistoryPanel::note() const { return m_note->text(); }

QSize HistoryPanel::sizeHint() const { return {600, TraceDelegate::rowHeight() * 8}; }

void HistoryPanel::showThread() {
  m_history->show(m_navigator->trace(), m_navigator->thread());
  const int rows = m_history->rowCount();
  if (rows == 0)
    m_note->setText(m_navigator->thread() == nullptr
                        ? QString()
                        : tr("Nothing is known of the time before this thread\u2019s trace."));
  else
    m_note->setText(
        tr("Samples of what this thread did before its trace begins. Counts are of what was read, "
           "not of all that ran."));
  m_note->setVisible(!m_note->text().isEmpty());
  // What led to where the trace begins.
  if (rows != 0) {
    m_stretchList->setCurrentIndex(m_history->index(rows - 1, 0));
    m_stretchList->scrollToBottom();
  }
  showStretch();
}

void HistoryPanel::showStretch() {
  m_places->show(m_navigator->trace(), m_history->stretch(m_stretchList->currentIndex().row()));
}

void HistoryPanel::show(const QModelIndex& place) {
  if (const auto code = m_places->code(place.row())) emit codeRequested(*code);
}

}  // namespace traceback::views
