#include "views/side_panels.h"

#include <QApplication>
#include <QHeaderView>
#include <QPainter>
#include <QScopedValueRollback>
#include <QStyledItemDelegate>

#include "views/calls_model.h"
#include "views/notes_model.h"
#include "views/selection_colors.h"
#include "views/threads_model.h"
#include "views/trace_delegate.h"

namespace traceback::views {
namespace {

// Rows of the same height as in the trace, and text that keeps clear of the edges.
class RowDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const int room = index.column() == 0 || isLast(index) ? kEdge : 0;
    return {QStyledItemDelegate::sizeHint(option, index).width() + room, TraceDelegate::rowHeight() + 1};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& given, const QModelIndex& index) const override {
    QStyleOptionViewItem option = given;
    initStyleOption(&option, index);
    const QStyle* style = option.widget != nullptr ? option.widget->style() : QApplication::style();
    style->drawPrimitive(QStyle::PE_PanelItemViewItem, &option, painter, option.widget);
    option.rect.adjust(index.column() == 0 ? kEdge : 0, 0, isLast(index) ? -kEdge : 0, 0);
    QStyledItemDelegate::paint(painter, option, index);
  }

 private:
  static constexpr int kEdge = 5;
  static bool isLast(const QModelIndex& index) {
    return index.column() + 1 == index.model()->columnCount(index.parent());
  }
};

void prepare(QTreeView* view, QAbstractItemModel* model, int stretched) {
  view->setModel(model);
  view->setItemDelegate(new RowDelegate(view));
  view->setFrameShape(QFrame::NoFrame);
  view->setRootIsDecorated(false);
  view->setIndentation(0);
  view->setUniformRowHeights(true);
  view->setAllColumnsShowFocus(true);
  view->setSelectionMode(QAbstractItemView::SingleSelection);
  view->setEditTriggers(QAbstractItemView::NoEditTriggers);
  view->setTextElideMode(Qt::ElideRight);
  new SelectionColors(view);
  view->header()->hide();
  view->header()->setStretchLastSection(false);
  view->header()->setMinimumSectionSize(24);
  for (int column = 0; column < model->columnCount(); ++column)
    view->header()->setSectionResizeMode(
        column, column == stretched ? QHeaderView::Stretch : QHeaderView::ResizeToContents);
  // Only what is in sight decides the widths, so that a long list costs no more than a short one.
  view->header()->setResizeContentsPrecision(0);
}

}  // namespace

ThreadsPanel::ThreadsPanel(Navigator& navigator, QWidget* parent)
    : QTreeView(parent), m_navigator(&navigator), m_model(new ThreadsModel(this)) {
  setObjectName(QStringLiteral("threads"));
  setAccessibleName(tr("Threads"));
  prepare(this, m_model, ThreadsModel::kWhere);
  connect(this, &QTreeView::clicked, this, &ThreadsPanel::jump);
  connect(this, &QTreeView::activated, this, &ThreadsPanel::jump);
  connect(m_navigator, &Navigator::traceChanged, this, [this] { m_model->setTrace(m_navigator->trace()); });
  connect(m_navigator, &Navigator::threadChanged, this, &ThreadsPanel::showThread);
}

QSize ThreadsPanel::sizeHint() const {
  return {fontMetrics().horizontalAdvance(u'n') * 34, TraceDelegate::rowHeight() * 7};
}

void ThreadsPanel::showThread() {
  if (m_navigator->thread() == nullptr) return;
  setCurrentIndex(m_model->index(static_cast<int>(m_navigator->threadIndex().value), 0));
}

void ThreadsPanel::jump(const QModelIndex& index) {
  if (index.isValid()) m_navigator->goToThread({static_cast<std::uint32_t>(index.row())});
}

CallsPanel::CallsPanel(Navigator& navigator, QWidget* parent)
    : QTreeView(parent), m_navigator(&navigator), m_model(new CallsModel(this)) {
  setObjectName(QStringLiteral("calls"));
  setAccessibleName(tr("Active calls"));
  prepare(this, m_model, CallsModel::kFunction);
  connect(this, &QTreeView::clicked, this, &CallsPanel::jump);
  connect(this, &QTreeView::activated, this, &CallsPanel::jump);
  connect(m_navigator, &Navigator::moved, this, &CallsPanel::showPosition);
}

QSize CallsPanel::sizeHint() const {
  return {fontMetrics().horizontalAdvance(u'n') * 34, TraceDelegate::rowHeight() * 14};
}

void CallsPanel::showPosition() {
  if (m_jumping) return;
  m_model->show(m_navigator->trace(), m_navigator->threadIndex(), m_navigator->entryIndex());
  if (m_model->rowCount() > 0) setCurrentIndex(m_model->index(0, 0));
}

void CallsPanel::jump(const QModelIndex& index) {
  const auto at = m_model->position(index.row());
  if (!at) return;
  const QScopedValueRollback guard(m_jumping, true);
  m_navigator->goTo(m_navigator->threadIndex(), *at, Navigator::Remember::Yes);
}

NotesPanel::NotesPanel(Navigator& navigator, QWidget* parent)
    : QTreeView(parent), m_model(new NotesModel(this)) {
  setObjectName(QStringLiteral("notes"));
  setAccessibleName(tr("Notes about this snap"));
  prepare(this, m_model, NotesModel::kText);
  connect(&navigator, &Navigator::traceChanged, this,
          [this, &navigator] { m_model->setTrace(navigator.trace()); });
}

QSize NotesPanel::sizeHint() const { return {400, TraceDelegate::rowHeight() * 5}; }

}  // namespace traceback::views
