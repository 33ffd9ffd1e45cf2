#include "views/trace/trace_pane.h"

#include <QAction>
#include <QDataStream>
#include <QEvent>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QScopedValueRollback>
#include <QScrollBar>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>
#include <algorithm>

#include "views/common/formatting.h"
#include "views/common/icons.h"
#include "views/common/pane_header.h"
#include "views/common/selection_colors.h"
#include "views/trace/filter_bar.h"
#include "views/trace/flat_model.h"
#include "views/trace/trace_delegate.h"
#include "views/trace/trace_header.h"
#include "views/trace/trace_text.h"
#include "views/trace/tree_model.h"

namespace traceback::views {
namespace {

// Rows kept in sight above and below the current one.
constexpr int kContextRows = 3;
constexpr int kTreeNotesPercent = 26, kFlatNotesPercent = 22;

class TraceTree : public QTreeView {
 public:
  using QTreeView::QTreeView;

 protected:
  void keyPressEvent(QKeyEvent* event) override {
    // Unfolding without end would bring all of the trace.
    if (event->key() == Qt::Key_Asterisk) {
      if (currentIndex().isValid()) expandRecursively(currentIndex(), 1);
      event->accept();
      return;
    }
    QTreeView::keyPressEvent(event);
  }
};

void prepare(QAbstractItemView* view) {
  view->setFrameShape(QFrame::NoFrame);
  view->setSelectionMode(QAbstractItemView::ExtendedSelection);
  view->setSelectionBehavior(QAbstractItemView::SelectRows);
  view->setEditTriggers(QAbstractItemView::NoEditTriggers);
  view->setVerticalScrollMode(QAbstractItemView::ScrollPerItem);
  view->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  view->setTextElideMode(Qt::ElideRight);
  new SelectionColors(view);
}

}  // namespace

TracePane::TracePane(Navigator& navigator, SourceCache& sources, QWidget* parent)
    : QWidget(parent),
      m_navigator(&navigator),
      m_sources(&sources),
      m_tree(new TreeModel(sources, this)),
      m_flat(new FlatModel(sources, this)),
      m_delegate(new TraceDelegate(this)),
      m_treeView(new TraceTree(this)),
      m_flatView(new QTableView(this)),
      m_treeHeader(new TraceHeader(kTreeNotesPercent, m_treeView)),
      m_flatHeader(new TraceHeader(kFlatNotesPercent, m_flatView)),
      m_stack(new QStackedWidget(this)),
      m_title(new QLabel(this)),
      m_empty(new QLabel(tr("This thread recorded nothing."), this)),
      m_treeAction(new QAction(icon(QStringLiteral("tree")), tr("Call &Tree"), this)),
      m_flatAction(new QAction(icon(QStringLiteral("flat")), tr("&Flat"), this)),
      m_foldAction(new QAction(icon(QStringLiteral("fold")), tr("Fold &Repeats"), this)),
      m_filterAction(new QAction(icon(QStringLiteral("search")), tr("Fi&lter"), this)),
      m_copyAction(new QAction(tr("&Copy Rows"), this)),
      m_copyCallAction(new QAction(tr("Copy C&all with Everything in It"), this)),
      m_filterBar(new FilterBar(navigator, this)) {
  buildActions();
  buildTree();
  buildFlat();
  m_empty->setAlignment(Qt::AlignCenter);
  m_stack->addWidget(m_treeView);
  m_stack->addWidget(m_flatView);
  m_stack->addWidget(m_empty);
  applyFonts();

  auto* header = new PaneHeader(this);
  header->addTitle(m_title);
  header->addAction(m_filterAction);
  header->addAction(m_foldAction);
  header->addAction(m_treeAction);
  header->addAction(m_flatAction);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(header);
  layout->addWidget(m_filterBar);
  layout->addWidget(m_stack, 1);

  connect(m_navigator, &Navigator::threadChanged, this, &TracePane::showThread);
  connect(m_navigator, &Navigator::moved, this, &TracePane::showPosition);
}

void TracePane::applyRules() {
  {
    const QScopedValueRollback guard(m_syncing, true);
    const TraceFilter filter = m_filterBar->filter();
    m_filter = filter;
    m_tree->setRules(filter, m_foldAction->isChecked());
    m_flat->setRules(filter, m_foldAction->isChecked(), m_navigator->entryIndex().value_or(0));
  }
  showPosition();
}

QString TracePane::selectedText() const {
  const bool isTree = mode() == Mode::Tree;
  return selectedRowsText(*currentView(), isTree ? *m_treeHeader : *m_flatHeader, isTree);
}

QString TracePane::callText() const { return wholeCallText(*m_navigator); }

void TracePane::buildTree() {
  m_treeView->setObjectName(QStringLiteral("traceTree"));
  m_treeView->setAccessibleName(tr("Trace as a call tree"));
  m_treeView->setHeader(m_treeHeader);
  m_treeView->setModel(m_tree);
  m_treeView->setItemDelegate(m_delegate);
  m_treeView->setUniformRowHeights(true);
  m_treeView->setIndentation(11);
  m_treeView->setAllColumnsShowFocus(true);
  m_treeView->setExpandsOnDoubleClick(true);
  prepare(m_treeView);
  // The calls say the functions already.
  m_treeHeader->setUp({kWhatColumn, kPlaceColumn, kNoteColumn});
  connect(m_treeView->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &TracePane::userMoved);
  m_treeView->installEventFilter(this);
  connect(m_treeView, &QAbstractItemView::doubleClicked, this, [this](const QModelIndex& index) {
    if (leadsBefore(index)) emit historyRequested();
  });
  connect(m_treeView, &QTreeView::clicked, this, [this](const QModelIndex& index) {
    if (m_tree->isMore(index.siblingAtColumn(0))) activate(index);
  });
}

void TracePane::buildFlat() {
  m_flatView->setObjectName(QStringLiteral("traceFlat"));
  m_flatView->setAccessibleName(tr("Trace, line by line"));
  m_flatView->setHorizontalHeader(m_flatHeader);
  m_flatView->setModel(m_flat);
  m_flatView->setItemDelegate(m_delegate);
  m_flatView->setShowGrid(false);
  m_flatView->setWordWrap(false);
  m_flatView->setCornerButtonEnabled(false);
  m_flatView->setTabKeyNavigation(false);
  m_flatView->verticalHeader()->hide();
  m_flatView->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  prepare(m_flatView);
  m_flatHeader->setUp({kFunctionColumn, kPlaceColumn, kWhatColumn, kNoteColumn});
  connect(m_flatView->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &TracePane::userMoved);
  m_flatView->installEventFilter(this);
  connect(m_flatView, &QAbstractItemView::doubleClicked, this, [this](const QModelIndex& index) {
    if (leadsBefore(index)) emit historyRequested();
  });
  connect(m_flatView, &QTableView::clicked, this, [this](const QModelIndex& index) {
    if (!index.data(kEntryRole).isValid()) activate(index);
  });
}

void TracePane::applyFonts() {
  m_treeHeader->applyFont();
  m_flatHeader->applyFont();
  m_flatView->verticalHeader()->setMinimumSectionSize(TraceDelegate::rowHeight());
  m_flatView->verticalHeader()->setDefaultSectionSize(TraceDelegate::rowHeight());
}

void TracePane::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::FontChange) applyFonts();
}

TracePane::Mode TracePane::mode() const { return m_treeAction->isChecked() ? Mode::Tree : Mode::Flat; }

QAbstractItemView* TracePane::currentView() const {
  if (mode() == Mode::Tree) return m_treeView;
  return m_flatView;
}

void TracePane::setMode(Mode mode) {
  const bool hadFocus = m_stack->currentWidget() != nullptr && m_stack->currentWidget()->hasFocus();
  (mode == Mode::Tree ? m_treeAction : m_flatAction)->setChecked(true);
  showPosition();
  if (hadFocus) currentView()->setFocus();
  emit modeChanged();
}

void TracePane::showThread() {
  const QScopedValueRollback guard(m_syncing, true);
  const model::ThreadTrace* thread = m_navigator->thread();
  m_delegate->setFault(thread != nullptr ? thread->info().fault : std::nullopt);
  m_tree->setThread(m_navigator->trace(), m_navigator->threadIndex());
  m_flat->setThread(m_navigator->trace(), m_navigator->threadIndex());
  // Another trace has other modules.
  if (const TraceFilter filter = m_filterBar->filter(); filter != m_filter) applyRules();
  m_title->setText(
      thread == nullptr
          ? tr("Trace")
          : tr("Trace of thread %1").arg(threadName(thread->info(), m_navigator->threadIndex().value + 1)));
}

void TracePane::showPosition() {
  // A view that comes to the front and gets the keyboard makes its first row the current one.
  const QScopedValueRollback guard(m_syncing, true);
  const model::ThreadTrace* thread = m_navigator->thread();
  if (thread == nullptr || thread->entryCount() == 0) {
    m_stack->setCurrentWidget(m_empty);
    return;
  }
  m_stack->setCurrentWidget(currentView());
  if (m_leading) return;
  const auto entry = m_navigator->entryIndex();
  if (!entry) return;
  if (mode() == Mode::Tree) {
    const QModelIndex index = m_tree->reveal(*entry);
    for (QModelIndex up = index.parent(); up.isValid(); up = up.parent()) m_treeView->expand(up);
    select(m_treeView, index);
  } else {
    select(m_flatView, m_flat->reveal(*entry));
  }
}

void TracePane::select(QAbstractItemView* view, const QModelIndex& index) {
  if (!index.isValid()) return;
  const QRect before = view->visualRect(index);
  const bool inSight = before.isValid() && view->viewport()->rect().intersects(before);
  // Alone: what was selected elsewhere is of another place.
  view->selectionModel()->setCurrentIndex(index,
                                          QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  if (!inSight) {
    view->scrollTo(index, QAbstractItemView::PositionAtCenter);
    return;
  }
  view->scrollTo(index);
  const QRect rect = view->visualRect(index);
  const int room = kContextRows * rect.height();
  QScrollBar* bar = view->verticalScrollBar();
  if (rect.top() < room) bar->setValue(bar->value() - (room - rect.top()) / std::max(1, rect.height()));
  const int below = view->viewport()->height() - rect.bottom();
  if (below < room) bar->setValue(bar->value() + (room - below) / std::max(1, rect.height()));
}

void TracePane::userMoved(const QModelIndex& current) {
  if (m_syncing || !current.isValid()) return;
  const QVariant entry = current.siblingAtColumn(0).data(kEntryRole);
  if (!entry.isValid()) return;
  const QScopedValueRollback guard(m_leading, true);
  const bool clicked = QGuiApplication::mouseButtons() != Qt::NoButton;
  m_navigator->goTo(m_navigator->threadIndex(), entry.toULongLong(),
                    clicked ? Navigator::Remember::Yes : Navigator::Remember::No);
}

// Enter alone, not what a style takes for activation: where that is a click, rows would fold as one goes by.
bool TracePane::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Return || key == Qt::Key_Enter) {
      if (currentView()->currentIndex().isValid()) activate(currentView()->currentIndex());
      return true;
    }
  }
  return QWidget::eventFilter(watched, event);
}

bool TracePane::leadsBefore(const QModelIndex& index) const {
  const QVariant entry = index.siblingAtColumn(0).data(kEntryRole);
  return entry.isValid() && m_navigator->thread() != nullptr &&
         leadsToHistory(*m_navigator->trace(), m_navigator->thread()->entry(entry.toULongLong()));
}

void TracePane::activate(const QModelIndex& any) {
  const QModelIndex index = any.siblingAtColumn(0);
  if (leadsBefore(index)) return emit historyRequested();
  QModelIndex shown;
  if (mode() == Mode::Tree) {
    if (!m_tree->isMore(index)) {
      if (m_tree->hasChildren(index)) m_treeView->setExpanded(index, !m_treeView->isExpanded(index));
      return;
    }
    const QScopedValueRollback guard(m_syncing, true);
    shown = m_tree->showMore(index);
  } else {
    const QScopedValueRollback guard(m_syncing, true);
    if (m_flat->isFolded(index)) {
      const QModelIndex first = m_flat->unfold(index);
      m_flatView->setCurrentIndex(first);
      return;
    }
    if (const auto beside = m_flat->showMore(index)) shown = m_flat->reveal(*beside);
  }
  // To where the row was: the panes stay in step.
  if (!shown.isValid()) return;
  currentView()->setCurrentIndex(shown);
  currentView()->scrollTo(shown, QAbstractItemView::PositionAtCenter);
}

void TracePane::foldOthers() {
  m_treeView->collapseAll();
  if (mode() == Mode::Flat) applyRules();
  showPosition();
}

void TracePane::refreshSources() {
  m_tree->refreshSources();
  m_flat->refreshSources();
}

QByteArray TracePane::saveColumns() const {
  QByteArray bytes;
  QDataStream stream(&bytes, QIODevice::WriteOnly);
  stream << m_treeHeader->state() << m_flatHeader->state() << (mode() == Mode::Flat)
         << m_foldAction->isChecked();
  return bytes;
}

void TracePane::restoreColumns(const QByteArray& state) {
  if (state.isEmpty()) return;
  QDataStream stream(state);
  QByteArray tree, flat;
  bool flatMode = false, fold = true;
  stream >> tree >> flat >> flatMode >> fold;
  if (stream.status() != QDataStream::Ok) return;
  m_treeHeader->restore(tree);
  m_flatHeader->restore(flat);
  m_foldAction->setChecked(fold);
  setMode(flatMode ? Mode::Flat : Mode::Tree);
}

}  // namespace traceback::views
