#include "views/threads/lanes_delegate.h"

#include <QApplication>
#include <QPainter>
#include <algorithm>

#include "views/common/formatting.h"
#include "views/common/icons.h"
#include "views/common/theme.h"
#include "views/threads/order_marks.h"
#include "views/trace/trace_delegate.h"

namespace traceback::views {
namespace {

constexpr double kMarkSize = 13;
constexpr double kLeastBand = 3;      // pixels that the position takes at least
constexpr double kTickSpacing = 5;    // readings nearer to each other are not drawn

// One lane in its cell.
class LanePainter {
 public:
  LanePainter(QPainter& painter, const QRect& cell, const LanesModel::Lane& lane, const TimeAxis& axis,
              const Theme& theme)
      : m_painter(painter), m_cell(cell), m_lane(lane), m_axis(axis), m_theme(theme) {
    const double height = std::floor(m_cell.height() * 0.5);
    m_bar = QRectF(m_cell.left(), m_cell.top() + std::floor((m_cell.height() - height) / 2), m_cell.width(),
                   height);
  }

  void paint(bool anyPosition) {
    const model::ThreadTimes& times = m_lane.thread->times();
    const auto readings = times.readings();
    if (readings.empty() || m_lane.thread->entryCount() == 0)
      return say(LanesModel::tr("no times were recorded"));
    const double begin = x(times.began().value_or(readings.front().time));
    // A thread that faulted did nothing from then on.
    const auto fault = m_lane.thread->info().fault;
    const auto last = fault ? times.boundsOf(*fault).to : times.ended();
    const double end = x(last.value_or(readings.back().time));
    // What it did first has been overwritten: it ran then, but nothing is known of it.
    const bool lost = !times.events().empty() && times.events().front().kind == model::EntryKind::Gap &&
                      times.events().front().entry == 0;
    const double known = lost ? x(readings.front().time) : begin;
    if (lost && known > begin) {
      m_painter.setPen(QPen(m_theme.faintText, 1, Qt::DotLine));
      m_painter.drawLine(QPointF(begin, m_bar.center().y()), QPointF(known, m_bar.center().y()));
    }
    paintHistory(known);
    paintParts(known, std::max(end, known + 1), anyPosition);
    paintReadings();
    paintEdge(begin);
    if (m_lane.thread->info().ended) paintEdge(end);
    if (m_lane.current) paintPosition();
    paintEvents();
  }

 private:
  double x(model::Ticks time) const { return m_cell.left() + m_axis.xOf(time, m_cell.width()); }

  void say(const QString& words) {
    m_painter.setPen(m_theme.faintText);
    m_painter.drawText(m_cell.adjusted(6, 0, -6, 0), Qt::AlignVCenter | Qt::TextSingleLine, words);
  }

  void part(double from, double to, model::Order order) {
    const double left = std::max<double>(from, m_cell.left() - 10),
                 right = std::min<double>(to, m_cell.right() + 10);
    if (right > left)
      paintOrder(m_painter, {left, m_bar.top(), right - left, m_bar.height()}, order, m_theme);
  }

  void paintParts(double begin, double end, bool anyPosition) {
    if (!anyPosition || m_lane.where.over) return part(begin, end, model::Order::Before);
    if (m_lane.where.notBegun) return part(begin, end, model::Order::After);
    const double from = std::clamp(m_lane.band.from ? x(*m_lane.band.from) : begin, begin, end);
    const double to = std::clamp(m_lane.band.to ? x(*m_lane.band.to) : end, from, end);
    part(begin, from, model::Order::Before);
    part(to, end, model::Order::After);
    part(from, std::max(to, from + kLeastBand), model::Order::Unknown);
    if (m_lane.current) return;
    const QString words = orderText(model::Order::Unknown);
    const QFontMetricsF metrics(m_painter.font());
    const double left = std::max<double>(from, m_cell.left()), right = std::min<double>(to, m_cell.right());
    const double width = metrics.horizontalAdvance(words) + 10;
    if (right - left < width + 12) return;
    const QRectF where((left + right - width) / 2, m_bar.top() + 1, width, m_bar.height() - 2);
    m_painter.fillRect(where, mix(m_theme.base, m_theme.currentMark, m_theme.dark ? 0.22 : 0.20));
    m_painter.setPen(m_theme.text);
    m_painter.drawText(where, Qt::AlignCenter | Qt::TextSingleLine, words);
  }

  // What samples tell of, up to where the trace begins.
  void paintHistory(double known) {
    const auto& history = m_lane.thread->info().history;
    if (!history) return;
    const double third = std::floor(m_bar.height() / 3);
    double last = -1e9;
    for (const model::HistoryStretch& stretch : history->stretches) {
      const double from = std::max<double>(x(stretch.begin), m_cell.left() - 10);
      const double to = std::min({x(stretch.end), known, m_cell.right() + 10.0});
      if (to <= from) continue;
      paintSampled(m_painter, {from, m_bar.top(), to - from, m_bar.height()}, m_theme);
      if (from - last < kTickSpacing) continue;
      m_painter.setPen(mix(m_theme.base, m_theme.text, 0.45));
      m_painter.drawLine(QPointF(from, m_bar.top() + third), QPointF(from, m_bar.bottom() - third));
      last = from;
    }
  }

  // The moments at which the clock was read: only they order anything.
  void paintReadings() {
    m_painter.setPen(mix(m_theme.base, m_theme.text, 0.45));
    double last = -1e9;
    for (const model::ClockReading& reading : m_lane.thread->times().readings()) {
      const double at = std::floor(x(reading.time)) + 0.5;
      if (at > m_cell.right()) break;
      if (at < m_cell.left() || at - last < kTickSpacing) continue;
      m_painter.drawLine(QPointF(at, m_bar.bottom() - 3), QPointF(at, m_bar.bottom() - 1));
      last = at;
    }
  }

  void paintEdge(double at) {
    m_painter.fillRect(QRectF(at - 1, m_bar.top() - 2, 2, m_bar.height() + 4), m_theme.dimText);
  }

  // Of its own thread the place is known, and its time between two readings.
  void paintPosition() {
    const double from = m_lane.band.from ? x(*m_lane.band.from) : m_cell.left();
    const double to =
        std::max(m_lane.band.to ? x(*m_lane.band.to) : double(m_cell.right()), from + kLeastBand);
    m_painter.setPen(QPen(m_theme.currentMark, 2));
    m_painter.setBrush(Qt::NoBrush);
    m_painter.drawRect(QRectF(from, m_bar.top() - 2, to - from, m_bar.height() + 4));
  }

  void paintEvents() {
    double last = -1e9;
    const auto mark = [&](model::Ticks time, const QString& name, const QColor& color, double least) {
      const double at = x(time);
      if (time.value == 0 || at < m_cell.left() - kMarkSize || at > m_cell.right() + kMarkSize ||
          at - last < least)
        return;
      const QRectF where(at - kMarkSize / 2, m_bar.center().y() - kMarkSize / 2, kMarkSize, kMarkSize);
      m_painter.setRenderHint(QPainter::Antialiasing);
      m_painter.setPen(Qt::NoPen);
      m_painter.setBrush(m_theme.base);
      m_painter.drawEllipse(where.adjusted(-2, -2, 2, 2));
      paintIcon(m_painter, where, name, color);
      m_painter.setRenderHint(QPainter::Antialiasing, false);
      last = at;
    };
    const model::ThreadTimes& times = m_lane.thread->times();
    for (const model::TimedEvent& event : times.events()) {
      const auto from = times.readingAt(event.entry);
      if (!from) continue;
      switch (event.kind) {
        case model::EntryKind::Signal:
          mark(*from, QStringLiteral("signal"), m_theme.warningMark, kMarkSize);
          break;
        case model::EntryKind::Exception:
          mark(*from, QStringLiteral("exception"), m_theme.warningMark, kMarkSize);
          break;
        case model::EntryKind::Gap:
          if (event.entry != 0) mark(*from, QStringLiteral("gap"), m_theme.warningMark, kMarkSize);
          break;
        case model::EntryKind::Sync:
          if (event.detail != static_cast<std::uint32_t>(model::SyncCause::ThreadStart) &&
              event.detail != static_cast<std::uint32_t>(model::SyncCause::ThreadEnd))
            mark(*from, QStringLiteral("sync"), m_theme.infoMark, kMarkSize / 2);
          break;
        default:
          break;
      }
    }
    if (!m_lane.thread->info().fault) return;
    last = -1e9;
    const model::TimeBounds bounds = times.boundsOf(*m_lane.thread->info().fault);
    if (bounds.to) mark(*bounds.to, QStringLiteral("fault"), m_theme.faultMark, 0);
  }

  QPainter& m_painter;
  QRect m_cell;
  QRectF m_bar;
  const LanesModel::Lane& m_lane;
  const TimeAxis& m_axis;
  const Theme& m_theme;
};

}  // namespace

int LanesDelegate::laneHeight() { return TraceDelegate::rowHeight() + 8; }

QSize LanesDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  QStyleOptionViewItem bold = option;
  bold.font.setBold(true);
  bold.fontMetrics = QFontMetrics(bold.font);
  const int text = bold.fontMetrics.horizontalAdvance(index.data().toString());
  return {std::max(QStyledItemDelegate::sizeHint(bold, index).width(), text) + 20, laneHeight()};
}

void LanesDelegate::paint(QPainter* painter, const QStyleOptionViewItem& given,
                          const QModelIndex& index) const {
  QStyleOptionViewItem option = given;
  initStyleOption(&option, index);
  const QStyle* style = option.widget != nullptr ? option.widget->style() : QApplication::style();
  if (index.column() != LanesModel::kLane) {
    style->drawPrimitive(QStyle::PE_PanelItemViewItem, &option, painter, option.widget);
    option.rect.adjust(5, 0, -2, 0);
    QFont font = option.font;
    font.setBold(m_model->lane(index.row()).current);
    option.font = font;
    return QStyledItemDelegate::paint(painter, option, index);
  }
  const Theme theme(option.palette);
  painter->save();
  painter->setClipRect(option.rect);
  painter->setFont(option.font);
  painter->fillRect(option.rect, theme.base);
  LanePainter(*painter, option.rect, m_model->lane(index.row()), *m_axis, theme)
      .paint(m_model->position().has_value());
  painter->setPen(mix(theme.base, theme.separator, 0.5));
  painter->drawLine(option.rect.bottomLeft(), option.rect.bottomRight());
  // The lane that the keys move in.
  if ((option.state & QStyle::State_Selected) != 0) {
    painter->setPen(QPen(option.palette.color(QPalette::Highlight), 1));
    painter->drawLine(option.rect.topLeft(), option.rect.topRight());
    painter->drawLine(option.rect.bottomLeft(), option.rect.bottomRight());
  }
  painter->restore();
}

}  // namespace traceback::views
