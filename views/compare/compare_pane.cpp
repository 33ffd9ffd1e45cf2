#include "views/compare/compare_pane.h"

#include <QAction>
#include <QApplication>
#include <QEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QScopedValueRollback>
#include <QScrollBar>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "model/stepping.h"
#include "views/common/formatting.h"
#include "views/common/icons.h"
#include "views/common/pane_header.h"
#include "views/common/selection_colors.h"
#include "views/common/theme.h"
#include "views/compare/compare_model.h"
#include "views/trace/entry_text.h"
#include "views/trace/trace_delegate.h"

namespace traceback::views {
namespace {

constexpr int kDeepestIndent = 24;
constexpr int kIndent = 12;

// The signs at the left of each row, which say how it compares: no row of buttons.
class Signs : public QHeaderView {
 public:
  explicit Signs(QWidget* parent) : QHeaderView(Qt::Vertical, parent) {}

 protected:
  void paintSection(QPainter* painter, const QRect& rect, int section) const override {
    const Theme theme(palette());
    painter->fillRect(rect, theme.margin);
    QFont bold = font();
    bold.setBold(true);
    painter->setFont(bold);
    painter->setPen(theme.text);
    painter->drawText(rect, Qt::AlignCenter,
                      model()->headerData(section, Qt::Vertical, Qt::DisplayRole).toString());
  }
};

// A row of a trace, indented by its depth.
class Indented : public TraceDelegate {
 public:
  using TraceDelegate::TraceDelegate;
  void setOutermost(int depth) { m_outermost = depth; }

  void paint(QPainter* painter, const QStyleOptionViewItem& given, const QModelIndex& index) const override {
    QStyleOptionViewItem option = given;
    const QVariant background = index.data(Qt::BackgroundRole);
    if (background.isValid()) painter->fillRect(option.rect, background.value<QColor>());
    if (index.column() == kWhatColumn) {
      const QVariant depth = index.data(kDepthRole);
      if (depth.isValid()) {
        if ((option.state & QStyle::State_Selected) != 0) {
          const QStyle* style = option.widget != nullptr ? option.widget->style() : QApplication::style();
          style->drawPrimitive(QStyle::PE_PanelItemViewItem, &option, painter, option.widget);
        }
        option.rect.setLeft(option.rect.left() +
                            kIndent * std::clamp(depth.toInt() - m_outermost, 0, kDeepestIndent));
      }
    }
    TraceDelegate::paint(painter, option, index);
  }

 private:
  int m_outermost = 0;
};

}  // namespace

ComparePane::ComparePane(Side left, Side right, QWidget* parent)
    : QWidget(parent),
      m_navigators{&left.navigator, &right.navigator},
      m_models{new CompareModel(model::Side::Left, left.sources, this),
               new CompareModel(model::Side::Right, right.sources, this)},
      m_views{nullptr, nullptr},
      m_status(new QLabel(this)),
      m_notes(new QLabel(this)),
      m_first(new QAction(icon(QStringLiteral("go-fault")), tr("First &Parting"), this)),
      m_next(new QAction(icon(QStringLiteral("down")), tr("&Next Difference"), this)),
      m_previous(new QAction(icon(QStringLiteral("up")), tr("P&revious Difference"), this)) {
  auto* header = new PaneHeader(this);
  header->addTitle(m_status, 1);
  m_first->setShortcut(QKeySequence(Qt::SHIFT | Qt::Key_Home));
  m_next->setShortcuts({QKeySequence(Qt::Key_F8), QKeySequence(Qt::Key_N)});
  m_previous->setShortcuts({QKeySequence(Qt::SHIFT | Qt::Key_F8), QKeySequence(Qt::Key_P)});
  m_first->setObjectName(QStringLiteral("firstParting"));
  m_next->setObjectName(QStringLiteral("nextDifference"));
  m_previous->setObjectName(QStringLiteral("previousDifference"));
  for (QAction* action : {m_first, m_previous, m_next}) {
    header->addAction(action);
    addAction(action);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  }
  connect(m_first, &QAction::triggered, this, [this] { goToRow(m_rows.rowOf(0)); });
  connect(m_next, &QAction::triggered, this,
          [this] { goToRow(m_rows.rowOf(m_rows.nextDifference(currentRow()))); });
  connect(m_previous, &QAction::triggered, this,
          [this] { goToRow(m_rows.rowOf(m_rows.previousDifference(currentRow()))); });

  m_status->setTextFormat(Qt::PlainText);
  m_status->setToolTip(
      tr("Calls answer each other by function; lines by address where both are of one build, else by "
         "function and line."));
  m_notes->setTextFormat(Qt::PlainText);
  m_notes->setWordWrap(true);
  m_notes->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_notes->setContentsMargins(8, 4, 8, 4);
  m_notes->setAccessibleName(tr("What is aligned by what"));
  m_notes->hide();

  auto* splitter = new QSplitter(Qt::Horizontal, this);
  m_views[0] = build(model::Side::Left, tr("Trace of the left side"));
  m_views[1] = build(model::Side::Right, tr("Trace of the right side"));
  for (QTableView* each : m_views) splitter->addWidget(each);
  splitter->setChildrenCollapsible(false);
  splitter->setHandleWidth(3);
  for (const int side : {0, 1})
    connect(m_views[side]->verticalScrollBar(), &QScrollBar::valueChanged,
            m_views[1 - side]->verticalScrollBar(), &QScrollBar::setValue);
  m_views[0]->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);

  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(header);
  layout->addWidget(m_notes);
  layout->addWidget(splitter, 1);
  applyFonts();
  showStatus();
}

QTableView* ComparePane::build(model::Side side, const QString& name) {
  auto* view = new QTableView(this);
  view->setObjectName(side == model::Side::Left ? QStringLiteral("compareLeft")
                                                : QStringLiteral("compareRight"));
  view->setAccessibleName(name);
  view->setVerticalHeader(new Signs(view));
  view->setModel(m_models[static_cast<int>(side)]);
  view->setItemDelegate(new Indented(view));
  view->setFrameShape(QFrame::NoFrame);
  view->setShowGrid(false);
  view->setWordWrap(false);
  view->setCornerButtonEnabled(false);
  view->setTabKeyNavigation(false);
  view->setSelectionMode(QAbstractItemView::SingleSelection);
  view->setSelectionBehavior(QAbstractItemView::SelectRows);
  view->setVerticalScrollMode(QAbstractItemView::ScrollPerItem);
  view->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  new SelectionColors(view);
  QHeaderView* columns = view->horizontalHeader();
  columns->hide();
  for (int column = 0; column < kTraceColumnCount; ++column)
    columns->setSectionHidden(column,
                              column != kWhatColumn && column != kPlaceColumn && column != kNoteColumn);
  columns->moveSection(kPlaceColumn, 0);
  columns->setStretchLastSection(false);
  columns->setSectionResizeMode(kWhatColumn, QHeaderView::Stretch);
  columns->setSectionResizeMode(kPlaceColumn, QHeaderView::Interactive);
  columns->setSectionResizeMode(kNoteColumn, QHeaderView::Interactive);
  QHeaderView* signs = view->verticalHeader();
  signs->setSectionResizeMode(QHeaderView::Fixed);
  signs->setHighlightSections(false);
  signs->setSectionsClickable(false);
  signs->setDefaultAlignment(Qt::AlignCenter);
  signs->setAccessibleName(tr("How each row compares"));
  view->installEventFilter(this);
  connect(view->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this, side](const QModelIndex& current) { moved(side, current); });
  connect(view, &QTableView::clicked, this, [this](const QModelIndex& index) { activated(index.row()); });
  connect(&navigator(side), &Navigator::moved, this, [this, side] { navigated(side); });
  return view;
}

void ComparePane::applyFonts() {
  const int unit = fontMetrics().horizontalAdvance(u'n');
  for (QTableView* each : m_views) {
    each->verticalHeader()->setDefaultSectionSize(TraceDelegate::rowHeight());
    each->verticalHeader()->setFixedWidth(3 * unit);
    each->horizontalHeader()->resizeSection(kPlaceColumn, 18 * unit);
    each->horizontalHeader()->resizeSection(kNoteColumn, 16 * unit);
  }
}

void ComparePane::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::FontChange) applyFonts();
}

bool ComparePane::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    if ((key == Qt::Key_Return || key == Qt::Key_Enter) && currentRow() >= 0 &&
        m_rows.folded(currentRow()) > 0) {
      activated(currentRow());
      return true;
    }
  }
  return QWidget::eventFilter(watched, event);
}

void ComparePane::show(model::Comparison comparison) {
  const QScopedValueRollback guard(m_syncing, true);
  for (CompareModel* each : m_models) each->setRows(nullptr, {}, nullptr);
  m_rows = CompareRows(std::move(comparison));
  for (const int side : {0, 1}) {
    const Navigator& navigator = *m_navigators[side];
    m_models[side]->setRows(navigator.trace(), navigator.threadIndex(), &m_rows);
    int outermost = navigator.thread() != nullptr ? navigator.thread()->leastLineDepth() : 0;
    static_cast<Indented*>(m_views[side]->itemDelegate())->setOutermost(outermost);
    if (navigator.thread() != nullptr)
      static_cast<TraceDelegate*>(m_views[side]->itemDelegate())->setFault(navigator.thread()->info().fault);
  }
  QStringList notes;
  for (const std::string& note : m_rows.comparison().notes) notes.append(QString::fromStdString(note));
  m_notes->setText(notes.join(u'\n'));
  m_notes->setVisible(!notes.isEmpty());
  m_syncing = false;
  goToRow(m_rows.differences() > 0 ? m_rows.rowOf(0) : m_rows.count() - 1);
}

void ComparePane::clear() {
  for (CompareModel* each : m_models) each->setRows(nullptr, {}, nullptr);
  m_rows = {};
  m_notes->hide();
  showStatus();
}

int ComparePane::currentRow() const { return m_views[1]->currentIndex().row(); }

QString ComparePane::status() const { return m_status->text(); }
QString ComparePane::notes() const { return m_notes->text(); }

void ComparePane::goToRow(int row) {
  if (row < 0 || row >= m_rows.count()) return showStatus();
  // A little of what led there stays in sight.
  m_views[1]->setCurrentIndex(m_models[1]->index(row, kWhatColumn));
  m_views[1]->scrollTo(m_models[1]->index(row, kWhatColumn), QAbstractItemView::PositionAtCenter);
}

void ComparePane::moved(model::Side side, const QModelIndex& current) {
  if (m_syncing || !current.isValid()) return;
  const QScopedValueRollback guard(m_syncing, true);
  const int row = current.row(), other = 1 - static_cast<int>(side);
  m_views[other]->setCurrentIndex(m_models[other]->index(row, kWhatColumn));
  for (const model::Side each : {model::Side::Left, model::Side::Right}) {
    // A side that has nothing here stays where it last was in step, so that its source is that of the
    // parting.
    int at = row;
    while (at > 0 && !m_rows.cell(at, each).entry && row - at < 1000) --at;
    if (const auto entry = m_rows.cell(at, each).entry)
      navigator(each).goTo(navigator(each).threadIndex(), *entry, Navigator::Remember::No);
  }
  showStatus();
}

void ComparePane::activated(int row) {
  if (row < 0 || m_rows.folded(row) == 0) return;
  {
    const QScopedValueRollback guard(m_syncing, true);
    for (CompareModel* each : m_models) each->beginChange();
    m_rows.unfold(row);
    for (CompareModel* each : m_models) each->endChange();
  }
  goToRow(row);
}

// Somebody moved in a source pane: the rows follow.
void ComparePane::navigated(model::Side side) {
  if (m_syncing || m_rows.count() == 0) return;
  const auto entry = navigator(side).entryIndex();
  if (!entry) return;
  int row = -1;
  {
    const QScopedValueRollback guard(m_syncing, true);
    for (CompareModel* each : m_models) each->beginChange();
    row = m_rows.reveal(side, *entry);
    for (CompareModel* each : m_models) each->endChange();
  }
  goToRow(row);
}

void ComparePane::showStatus() {
  const int row = currentRow(), all = m_rows.differences();
  const bool some = all > 0 && row >= 0;
  m_first->setEnabled(some);
  m_next->setEnabled(some && m_rows.nextDifference(row) >= 0);
  m_previous->setEnabled(some && m_rows.previousDifference(row) >= 0);
  if (m_rows.count() == 0) return m_status->setText(tr("Nothing is compared"));
  const QString same = count(m_rows.comparison().sameCount());
  if (all == 0) return m_status->setText(tr("The same path: %1 entries").arg(same));
  const int here = row < 0 ? -1 : m_rows.differenceAt(row);
  if (here >= 0)
    m_status->setText(tr("Difference %1 of %2").arg(here + 1).arg(all));
  else
    m_status->setText(all == 1 ? tr("One difference, %1 entries the same").arg(same)
                               : tr("%1 differences, %2 entries the same").arg(all).arg(same));
}

}  // namespace traceback::views
