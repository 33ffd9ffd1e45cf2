#include "views/source/executions_popup.h"

#include <QCursor>
#include <QKeyEvent>
#include <QLabel>
#include <QListWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "model/queries.h"
#include "views/common/formatting.h"
#include "views/trace/call_chain.h"

namespace traceback::views {
namespace {

constexpr int kWatchMs = 250;

}  // namespace

ExecutionsPopup::ExecutionsPopup(Navigator& navigator, QWidget* parent)
    : QFrame(parent), m_navigator(&navigator), m_heading(new QLabel(this)), m_list(new QListWidget(this)) {
  setObjectName(QStringLiteral("executions"));
  setFrameShape(QFrame::StyledPanel);
  setAutoFillBackground(true);
  setBackgroundRole(QPalette::ToolTipBase);
  setAccessibleName(tr("Executions of the line"));
  m_heading->setForegroundRole(QPalette::ToolTipText);
  m_heading->setMargin(4);
  m_heading->setTextFormat(Qt::PlainText);
  m_list->setAccessibleName(tr("Executions of the line"));
  m_list->setFrameShape(QFrame::NoFrame);
  m_list->setUniformItemSizes(true);
  m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_list->setTextElideMode(Qt::ElideRight);
  m_list->installEventFilter(this);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(2, 2, 2, 2);
  layout->setSpacing(0);
  layout->addWidget(m_heading);
  layout->addWidget(m_list);
  connect(m_list, &QListWidget::itemClicked, this, &ExecutionsPopup::jump);
  connect(m_navigator, &Navigator::moved, this, &QWidget::hide);
  m_watch.setInterval(kWatchMs);
  connect(&m_watch, &QTimer::timeout, this, &ExecutionsPopup::lookAtMouse);
  hide();
}

QString ExecutionsPopup::heading() const { return m_heading->text(); }

void ExecutionsPopup::open(model::FileId file, std::uint32_t line, const QString& heading, const QRect& where,
                           bool byKey) {
  const auto at = m_navigator->entryIndex();
  if (!at) return;
  m_thread = m_navigator->threadIndex();
  m_line = where;
  m_byKey = byKey;
  m_heading->setText(heading);
  m_list->clear();
  m_list->hide();
  struct Found {
    std::vector<Row> rows;
    bool earlier = false, later = false;
  };
  auto found = std::make_shared<Found>();
  const model::Query query = model::LineQuery{file, line, true};
  m_job.start(
      [found, query, now = *at, trace = m_navigator->trace(), index = m_thread](const std::stop_token& stop) {
        const model::ThreadTrace& thread = *trace->threads[index.value];
        const auto add = [&](model::EntryIndex entry) {
          found->rows.push_back({entry, callChain(*trace, thread, entry)});
        };
        // One more than is shown says whether there are others.
        model::EntryIndex from = now;
        for (int i = 0; i <= kEachWay; ++i) {
          const auto hit = model::findPrevious(thread, from, query, stop).hit;
          if (!hit) break;
          if (i == kEachWay)
            found->earlier = true;
          else
            add(hit->match);
          from = hit->match;
        }
        std::ranges::reverse(found->rows);
        const model::AllFound after = model::findAll(thread, query, kEachWay + 1, now, stop);
        for (const model::Hit& hit : after.hits) {
          if (hit.match > now && static_cast<int>(std::ranges::count_if(found->rows, [now](const Row& row) {
                                   return row.entry > now;
                                 })) >= kEachWay) {
            found->later = true;
            break;
          }
          add(hit.match);
        }
      },
      [this, found, now = *at] { show(found->rows, found->earlier, found->later, now); });
  place();
  QFrame::show();
  raise();
  m_watch.start();
  if (byKey) setFocus();
}

void ExecutionsPopup::show(const std::vector<Row>& rows, bool earlier, bool later, model::EntryIndex now) {
  const auto more = [this](const QString& text) {
    auto* item = new QListWidgetItem(text, m_list);
    item->setFlags(Qt::NoItemFlags);
  };
  if (earlier) more(tr("\u2026 and earlier ones"));
  int nearest = -1;
  for (const Row& row : rows) {
    const model::EntryIndex far = row.entry < now ? now - row.entry : row.entry - now;
    const QString entries = far == 1 ? tr("1 entry") : tr("%1 entries").arg(count(far));
    const QString when = row.entry == now  ? tr("now")
                         : row.entry < now ? tr("\u25b2 %1 before").arg(entries)
                                           : tr("\u25bc %1 after").arg(entries);
    auto* item = new QListWidgetItem(QStringLiteral("%1   %2").arg(when, row.text), m_list);
    item->setData(Qt::UserRole, static_cast<qulonglong>(row.entry));
    if (row.entry <= now || nearest < 0) nearest = m_list->row(item);
  }
  if (later) more(tr("\u2026 and later ones"));
  if (rows.empty()) more(tr("Not in what the trace holds of this thread."));
  m_list->show();
  if (nearest >= 0) m_list->setCurrentRow(nearest);
  if (m_byKey) m_list->setFocus();
  place();
}

void ExecutionsPopup::place() {
  const QWidget* view = parentWidget();
  int width = m_heading->sizeHint().width();
  for (int i = 0; i < m_list->count(); ++i)
    width = std::max(width, m_list->fontMetrics().horizontalAdvance(m_list->item(i)->text()) + 24);
  width = std::min(width + 8, view->width() - 16);
  const int rowHeight = m_list->count() > 0 ? m_list->sizeHintForRow(0) : 0;
  m_list->setFixedHeight(rowHeight * m_list->count() + 4);
  const int height = m_heading->sizeHint().height() + (m_list->isHidden() ? 0 : m_list->height()) + 6;
  const int left = std::clamp(m_line.left(), 0, std::max(0, view->width() - width));
  // Below the line if there is room, else above.
  const bool below = m_line.bottom() + height < view->height() || m_line.top() < height;
  const int top = below ? m_line.bottom() : m_line.top() - height;
  setGeometry(left, std::max(0, top), width, std::min(height, view->height()));
}

void ExecutionsPopup::jump() {
  const QListWidgetItem* item = m_list->currentItem();
  const QVariant entry = item != nullptr ? item->data(Qt::UserRole) : QVariant();
  if (!entry.isValid()) return;
  hide();
  m_navigator->goTo(m_thread, entry.toULongLong(), Navigator::Remember::Yes);
}

void ExecutionsPopup::lookAtMouse() {
  if (m_byKey) {
    if (!hasFocus() && !m_list->hasFocus()) hide();
    return;
  }
  const QPoint at = parentWidget()->mapFromGlobal(QCursor::pos());
  if (!geometry().adjusted(-4, -4, 4, 4).contains(at) && !m_line.contains(at)) hide();
}

bool ExecutionsPopup::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride || event->type() == QEvent::KeyPress) {
    auto* key = static_cast<QKeyEvent*>(event);
    const bool enter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
    if (enter || key->key() == Qt::Key_Escape) {
      if (event->type() == QEvent::KeyPress) enter ? jump() : hide();
      event->accept();
      return true;
    }
  }
  return QFrame::eventFilter(watched, event);
}

void ExecutionsPopup::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) return hide();
  QFrame::keyPressEvent(event);
}

void ExecutionsPopup::hideEvent(QHideEvent* event) {
  m_watch.stop();
  m_job.cancel();
  const bool hadFocus = hasFocus() || m_list->hasFocus();
  QFrame::hideEvent(event);
  if (hadFocus) parentWidget()->setFocus();
}

}  // namespace traceback::views
