#include "views/threads/lanes_panel.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>
#include <QVBoxLayout>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "views/common/elided_label.h"
#include "views/common/formatting.h"
#include "views/common/list_style.h"
#include "views/common/theme.h"
#include "views/threads/lanes_delegate.h"
#include "views/threads/order_marks.h"
#include "views/trace/trace_delegate.h"

namespace traceback::views {
namespace {

constexpr double kZoomStep = 1.5;
constexpr double kPanStep = 0.15;
constexpr double kReach = 7;  // pixels around a mark that belong to it

}  // namespace

LanesHeader::LanesHeader(const LanesModel& model, const TimeAxis& axis, QWidget* parent)
    : QHeaderView(Qt::Horizontal, parent), m_model(&model), m_axis(&axis) {}

QSize LanesHeader::sizeHint() const { return {QHeaderView::sizeHint().width(), fontMetrics().height() + 8}; }

void LanesHeader::paintSection(QPainter* painter, const QRect& rect, int section) const {
  const Theme theme(palette());
  painter->save();
  painter->fillRect(rect, theme.base);
  painter->setPen(theme.faintText);
  if (section == LanesModel::kThread) {
    painter->drawText(rect.adjusted(8, 0, 0, 0), Qt::AlignVCenter | Qt::TextSingleLine, tr("Thread"));
  } else if (m_model->trace() != nullptr) {
    painter->setClipRect(rect);
    const double spacing = fontMetrics().horizontalAdvance(QStringLiteral("\u2212888 ms")) * 1.8;
    for (const TimeAxis::Mark& mark : m_axis->marks(*m_model->trace(), rect.width(), spacing)) {
      const double x = rect.left() + mark.x;
      painter->drawLine(QPointF(x, rect.bottom() - 4), QPointF(x, rect.bottom()));
      const double width = fontMetrics().horizontalAdvance(mark.text) + 4;
      const double left =
          std::clamp<double>(x - width / 2, rect.left(), std::max<double>(rect.left(), rect.right() - width));
      painter->drawText(QRectF(left, rect.top(), width, rect.height() - 3),
                        Qt::AlignCenter | Qt::TextSingleLine, mark.text);
    }
  }
  painter->setPen(theme.separator);
  painter->drawLine(rect.bottomLeft(), rect.bottomRight());
  painter->restore();
}

LanesView::LanesView(Navigator& navigator, QWidget* parent)
    : QTreeView(parent), m_navigator(&navigator), m_model(new LanesModel(this)) {
  setObjectName(QStringLiteral("lanes"));
  setAccessibleName(tr("Threads over time"));
  setHeader(new LanesHeader(*m_model, m_axis, this));
  prepareList(this, m_model, LanesModel::kLane);
  header()->setSectionsClickable(false);
  header()->show();
  setItemDelegate(new LanesDelegate(*m_model, m_axis, this));
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  connect(m_navigator, &Navigator::traceChanged, this, [this] {
    m_model->setTrace(m_navigator->trace());
    m_axis = m_navigator->trace() ? TimeAxis(*m_navigator->trace()) : TimeAxis();
    refresh();
  });
  connect(m_navigator, &Navigator::moved, this, &LanesView::showPosition);
}

QRect LanesView::laneRect(int row) const { return visualRect(m_model->index(row, LanesModel::kLane)); }

void LanesView::refresh() {
  viewport()->update();
  header()->viewport()->update();
}

void LanesView::showEvent(QShowEvent* event) {
  QTreeView::showEvent(event);
  showPosition();
}

void LanesView::showPosition() {
  if (!isVisible()) return;
  const auto position = m_navigator->position();
  m_model->setPosition(position);
  if (position) {
    const QModelIndex lane = m_model->index(static_cast<int>(position->thread.value), LanesModel::kThread);
    if (currentIndex().row() != lane.row()) setCurrentIndex(lane);
    const model::TimeBounds band = m_model->lane(lane.row()).band;
    if (band.from && !m_axis.showsAll()) {
      const auto from = static_cast<double>(band.from->value);
      m_axis.reveal(from, band.to ? static_cast<double>(band.to->value) : from);
    }
  }
  refresh();
}

void LanesView::zoom(double factor, double x) {
  m_axis.zoom(factor, x, laneRect(0).width());
  refresh();
}

void LanesView::showAll() {
  m_axis.showAll();
  refresh();
}

double LanesView::middle() const {
  const QRect lane = laneRect(0);
  const auto position = m_navigator->position();
  if (position) {
    const model::TimeBounds band = m_model->lane(static_cast<int>(position->thread.value)).band;
    if (const auto at = band.to ? band.to : band.from) {
      const double x = m_axis.xOf(*at, lane.width());
      if (x >= 0 && x <= lane.width()) return x;
    }
  }
  return lane.width() / 2.0;
}

const model::TimedEvent* LanesView::eventAt(int row, double x) const {
  const model::ThreadTimes& times = m_model->lane(row).thread->times();
  const model::TimedEvent* nearest = nullptr;
  double least = kReach;
  for (const model::TimedEvent& event : times.events()) {
    const auto from = times.readingAt(event.entry);
    if (!from) continue;
    const double distance = std::abs(m_axis.xOf(*from, laneRect(row).width()) - x);
    if (distance > least) continue;
    least = distance;
    nearest = &event;
  }
  return nearest;
}

void LanesView::go(int row, double x) {
  const LanesModel::Lane& lane = m_model->lane(row);
  const double width = laneRect(row).width();
  const model::ThreadIndex thread{static_cast<std::uint32_t>(row)};
  const auto fault = lane.thread->info().fault;
  const model::ThreadTimes& times = lane.thread->times();
  if (fault) {
    const auto to = times.boundsOf(*fault).to;
    if (to && std::abs(m_axis.xOf(*to, width) - x) <= kReach) {
      m_navigator->goTo(thread, *fault, Navigator::Remember::Yes);
      return;
    }
  }
  if (const model::TimedEvent* event = eventAt(row, x)) {
    emit message(m_model->describeEvent(row, *event));
    m_navigator->goTo(thread, event->entry, Navigator::Remember::Yes);
    return;
  }
  const model::Ticks time = m_axis.timeAt(x, width);
  if (m_model->stretchAt(row, time) != nullptr) {
    emit message(m_model->describe(row, time).replace(u'\n', u' '));
    m_navigator->goTo(thread, 0, Navigator::Remember::Yes);
    return;
  }
  const model::Whereabouts where = m_model->entriesAt(row, time);
  if (where.first >= where.end) {
    emit message(
        tr("Thread %1 %2.")
            .arg(threadName(lane.thread->info(), thread.value + 1), whereaboutsText(where, *lane.thread)));
    m_navigator->goToThread(thread);
    return;
  }
  // Which of them ran just then is not known; those that are further on in time are more likely further on.
  const model::TimeBounds first = times.boundsOf(where.first), last = times.boundsOf(where.end - 1);
  model::EntryIndex entry = where.first;
  if (first.from && last.to && *last.to > *first.from) {
    const double share = static_cast<double>(time.value - first.from->value) /
                         static_cast<double>(last.to->value - first.from->value);
    entry += static_cast<model::EntryIndex>(std::clamp(share, 0.0, 0.999) *
                                            static_cast<double>(where.end - where.first));
  }
  emit message(where.certain() ? tr("It was at %1.").arg(entriesText(where))
                               : tr("It was at %1; at which is a guess.").arg(entriesText(where)));
  m_navigator->goTo(thread, entry, Navigator::Remember::Yes);
}

void LanesView::goToEvent(bool forward) {
  const int row = currentIndex().row();
  if (row < 0) return;
  const LanesModel::Lane& lane = m_model->lane(row);
  const model::ThreadIndex thread{static_cast<std::uint32_t>(row)};
  if (thread != m_navigator->threadIndex()) m_navigator->goToThread(thread);
  const auto at = m_navigator->entryIndex();
  if (!at) return;
  const model::TimedEvent* best = nullptr;
  for (const model::TimedEvent& event : lane.thread->times().events()) {
    if (!model::isSteppable(event.kind)) continue;
    if (forward ? event.entry > *at && best == nullptr : event.entry < *at) best = &event;
  }
  if (best == nullptr) {
    emit message(forward ? tr("No event follows in this thread.")
                         : tr("No event is before that in this thread."));
    return;
  }
  emit message(m_model->describeEvent(row, *best));
  m_navigator->goTo(thread, best->entry, Navigator::Remember::Yes);
}

void LanesView::wheelEvent(QWheelEvent* event) {
  const QPoint delta = event->angleDelta();
  if ((event->modifiers() & Qt::ControlModifier) != 0) {
    const double x = event->position().x() - laneRect(0).left();
    zoom(std::pow(kZoomStep, delta.y() / 120.0), std::clamp<double>(x, 0, laneRect(0).width()));
    event->accept();
    return;
  }
  const int sideways = (event->modifiers() & Qt::ShiftModifier) != 0 ? delta.y() : delta.x();
  if (sideways == 0) return QTreeView::wheelEvent(event);
  m_axis.pan(-sideways / 120.0 * kPanStep);
  refresh();
  event->accept();
}

void LanesView::mousePressEvent(QMouseEvent* event) {
  m_pressed = event->position().toPoint();
  m_draggedTo = m_pressed.x();
  m_dragging = false;
  if (event->button() != Qt::MiddleButton) QTreeView::mousePressEvent(event);
}

void LanesView::mouseMoveEvent(QMouseEvent* event) {
  const QPoint at = event->position().toPoint();
  const bool pressed = (event->buttons() & (Qt::LeftButton | Qt::MiddleButton)) != 0;
  if (!pressed) return QTreeView::mouseMoveEvent(event);
  if (!m_dragging && std::abs(at.x() - m_pressed.x()) < QApplication::startDragDistance()) return;
  m_dragging = true;
  const double width = std::max(laneRect(0).width(), 1);
  m_axis.pan((m_draggedTo - at.x()) / width);
  m_draggedTo = at.x();
  refresh();
}

void LanesView::mouseReleaseEvent(QMouseEvent* event) {
  QTreeView::mouseReleaseEvent(event);
  const QModelIndex index = indexAt(m_pressed);
  if (m_dragging || event->button() != Qt::LeftButton || !index.isValid()) return;
  if (index.column() == LanesModel::kLane)
    go(index.row(), m_pressed.x() - laneRect(index.row()).left());
  else
    m_navigator->goToThread({static_cast<std::uint32_t>(index.row())});
}

void LanesView::keyPressEvent(QKeyEvent* event) {
  const bool control = (event->modifiers() & Qt::ControlModifier) != 0;
  switch (event->key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      return zoom(kZoomStep, middle());
    case Qt::Key_Minus:
      return zoom(1 / kZoomStep, middle());
    case Qt::Key_0:
      return showAll();
    case Qt::Key_Left:
    case Qt::Key_Right: {
      const bool forward = event->key() == Qt::Key_Right;
      if (control) return goToEvent(forward);
      m_axis.pan(forward ? kPanStep : -kPanStep);
      return refresh();
    }
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (currentIndex().isValid())
        m_navigator->goToThread({static_cast<std::uint32_t>(currentIndex().row())});
      return;
    default:
      QTreeView::keyPressEvent(event);
  }
}

bool LanesView::viewportEvent(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QTreeView::viewportEvent(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const QModelIndex index = indexAt(help->pos());
  if (!index.isValid() || index.column() != LanesModel::kLane) return QTreeView::viewportEvent(event);
  const QRect lane = laneRect(index.row());
  const double x = help->pos().x() - lane.left();
  const model::TimedEvent* near = eventAt(index.row(), x);
  QToolTip::showText(help->globalPos(),
                     near != nullptr ? m_model->describeEvent(index.row(), *near)
                                     : m_model->describe(index.row(), m_axis.timeAt(x, lane.width())),
                     this);
  return true;
}

LanesPanel::LanesPanel(Navigator& navigator, QWidget* parent)
    : QWidget(parent), m_navigator(&navigator), m_view(new LanesView(navigator, this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(m_view, 1);
  auto* foot = new QHBoxLayout;
  foot->setContentsMargins(0, 0, 8, 0);
  // Where it is narrow the words about the axis go first.
  auto* legend = new OrderLegend(this);
  foot->addWidget(legend);
  auto* axis = new ElidedLabel(this);
  axis->setObjectName(QStringLiteral("axisUnit"));
  axis->setElideMode(Qt::ElideRight);
  axis->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  axis->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  axis->setForegroundRole(QPalette::PlaceholderText);
  foot->addWidget(axis, 1);
  layout->addLayout(foot);
  setFocusProxy(m_view);
  connect(m_view, &LanesView::message, this, &LanesPanel::message);
  connect(m_navigator, &Navigator::traceChanged, this, [this, legend, axis] {
    const auto& trace = m_navigator->trace();
    axis->setFullText(trace ? TimeAxis(*trace).unit(*trace) : QString());
    legend->setShowsSampled(trace && std::ranges::any_of(trace->threads, [](const auto& thread) {
                              return thread->info().history != nullptr;
                            }));
    updateGeometry();
  });
}

QSize LanesPanel::sizeHint() const {
  constexpr int kMostLanes = 8;
  const auto& trace = m_navigator->trace();
  const int lanes = trace ? static_cast<int>(std::min<std::size_t>(trace->threads.size(), kMostLanes)) : 0;
  return {600, LanesDelegate::laneHeight() * std::max(lanes, 2) + 50};
}

}  // namespace traceback::views
