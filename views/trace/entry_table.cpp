#include "views/trace/entry_table.h"

#include <QEvent>
#include <QGuiApplication>
#include <QHeaderView>
#include <QScopedValueRollback>
#include <QScrollBar>
#include <algorithm>

#include "views/common/flat_header.h"
#include "views/common/selection_colors.h"
#include "views/trace/trace_delegate.h"

namespace traceback::views {

EntryTable::EntryTable(QAbstractItemModel* model, QWidget* parent) : QTableView(parent) {
  setHorizontalHeader(new FlatHeader(this));
  setModel(model);
  setItemDelegate(new TraceDelegate(this));
  setFrameShape(QFrame::NoFrame);
  setShowGrid(false);
  setWordWrap(false);
  setCornerButtonEnabled(false);
  setTabKeyNavigation(false);
  setSelectionMode(QAbstractItemView::SingleSelection);
  setSelectionBehavior(QAbstractItemView::SelectRows);
  setEditTriggers(QAbstractItemView::NoEditTriggers);
  setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  verticalHeader()->hide();
  verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  horizontalHeader()->setHighlightSections(false);
  horizontalHeader()->setMinimumSectionSize(30);
  new SelectionColors(this);
  applyFont();
  connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& current) {
            if (!m_syncing && current.isValid())
              emit userMoved(current.siblingAtColumn(0), QGuiApplication::mouseButtons() != Qt::NoButton);
          });
}

void EntryTable::applyFont() {
  verticalHeader()->setMinimumSectionSize(TraceDelegate::rowHeight());
  verticalHeader()->setDefaultSectionSize(TraceDelegate::rowHeight());
}

void EntryTable::changeEvent(QEvent* event) {
  QTableView::changeEvent(event);
  if (event->type() == QEvent::FontChange) applyFont();
}

void EntryTable::showColumns(const QList<int>& columns, int stretched) {
  QHeaderView* header = horizontalHeader();
  header->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  header->setStretchLastSection(false);
  for (int column = 0; column < header->count(); ++column)
    header->setSectionHidden(column, !columns.contains(column));
  for (qsizetype i = 0; i < columns.size(); ++i)
    header->moveSection(header->visualIndex(columns[i]), static_cast<int>(i));
  header->setSectionResizeMode(QHeaderView::Interactive);
  header->setSectionResizeMode(stretched, QHeaderView::Stretch);
}

void EntryTable::stand(const QModelIndex& index) {
  if (!index.isValid()) return;
  const QScopedValueRollback guard(m_syncing, true);
  const bool inSight = viewport()->rect().contains(visualRect(index).center());
  // A column that is hidden cannot be the current one's.
  const QModelIndex shown = index.siblingAtColumn(horizontalHeader()->logicalIndex(0));
  selectionModel()->setCurrentIndex(shown, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  scrollTo(shown, inSight ? EnsureVisible : PositionAtCenter);
}

void EntryTable::look(const QModelIndex& first, const QModelIndex& last) {
  if (!first.isValid() || !last.isValid()) return;
  const QScopedValueRollback guard(m_syncing, true);
  selectionModel()->clear();
  const int height = std::max(1, rowHeight(first.row()));
  const int fit = std::max(1, viewport()->height() / height);
  const int top = rowAt(0), bottom = top < 0 ? -1 : top + fit - 1;
  const int rows = last.row() - first.row() + 1;
  if (rows <= fit ? first.row() >= top && last.row() <= bottom : top >= first.row() && bottom <= last.row())
    return;
  const int above = rows < fit ? (fit - rows) / 2 : 1;
  verticalScrollBar()->setValue(std::max(0, first.row() - above));
}

}  // namespace traceback::views
