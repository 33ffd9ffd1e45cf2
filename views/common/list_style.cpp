#include "views/common/list_style.h"

#include <QApplication>
#include <QHeaderView>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTreeView>

#include "views/common/flat_header.h"
#include "views/common/selection_colors.h"
#include "views/trace/trace_delegate.h"

namespace traceback::views {
namespace {

// The icon in the colour of text, its shape alone.
QIcon inked(const QIcon& icon, const QSize& size, qreal scale, const QColor& color) {
  QPixmap drawn = icon.pixmap(size, scale);
  QPainter painter(&drawn);
  painter.setCompositionMode(QPainter::CompositionMode_SourceIn);
  painter.fillRect(QRect(QPoint(0, 0), size), color);
  painter.end();
  return QIcon(drawn);
}

// Rows of the same height as in the trace. What is `edge` wide keeps clear of the view's own edges.
class RowDelegate : public QStyledItemDelegate {
 public:
  RowDelegate(int edge, QObject* parent) : QStyledItemDelegate(parent), m_edge(edge) {}

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const int room = index.column() == 0 || isLast(index) ? m_edge : 0;
    return {QStyledItemDelegate::sizeHint(option, index).width() + room, TraceDelegate::rowHeight() + 1};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& given, const QModelIndex& index) const override {
    QStyleOptionViewItem option = given;
    initStyleOption(&option, index);
    const QStyle* style = option.widget != nullptr ? option.widget->style() : QApplication::style();
    style->drawPrimitive(QStyle::PE_PanelItemViewItem, &option, painter, option.widget);
    option.rect.adjust(index.column() == 0 ? m_edge : 0, 0, isLast(index) ? -m_edge : 0, 0);
    QStyledItemDelegate::paint(painter, option, index);
  }

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    if ((option->state & QStyle::State_Selected) == 0 || option->icon.isNull() || option->widget == nullptr)
      return;
    // On the strong colour of a selection with the keyboard, those of icons cannot be told from it.
    const auto group = (option->state & QStyle::State_Active) != 0 ? QPalette::Active : QPalette::Inactive;
    const QColor text = option->palette.color(group, QPalette::HighlightedText);
    if (text != option->palette.color(group, QPalette::Text))
      option->icon = inked(option->icon, option->decorationSize, option->widget->devicePixelRatioF(), text);
  }

 private:
  static bool isLast(const QModelIndex& index) {
    const QAbstractItemModel* model = index.model();
    return model != nullptr && index.column() + 1 == model->columnCount(index.parent());
  }

  int m_edge;
};

constexpr int kEdge = 5;

}  // namespace

void prepareTable(QTreeView* view) {
  view->setHeader(new FlatHeader(view));
  view->setItemDelegate(new RowDelegate(0, view));
  view->setRootIsDecorated(false);
  view->setUniformRowHeights(true);
  view->setAllColumnsShowFocus(true);
  new SelectionColors(view);
}

void prepareList(QTreeView* view, QAbstractItemModel* model, int stretched) {
  view->setModel(model);
  view->setItemDelegate(new RowDelegate(kEdge, view));
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
