#include "views/list_style.h"

#include <QApplication>
#include <QHeaderView>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTreeView>

#include "views/selection_colors.h"
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

}  // namespace

void prepareList(QTreeView* view, QAbstractItemModel* model, int stretched) {
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

}  // namespace traceback::views
