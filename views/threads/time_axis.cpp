#include "views/threads/time_axis.h"

#include <algorithm>
#include <cmath>

#include "views/common/formatting.h"

namespace traceback::views {
namespace {

// What may fill the width, at least: ticks, or of a trace with few (its clock counts events) a share of all.
constexpr double kLeastTicks = 200;
constexpr double kLeastShare = 0.05;

double ticksOf(model::Ticks time) { return static_cast<double>(time.value); }

}  // namespace

TimeAxis::TimeAxis(const model::Trace& trace) {
  bool any = false;
  const auto take = [&](std::optional<model::Ticks> time) {
    if (!time || time->value == 0) return;
    m_first = any ? std::min(m_first, ticksOf(*time)) : ticksOf(*time);
    m_last = any ? std::max(m_last, ticksOf(*time)) : ticksOf(*time);
    any = true;
  };
  for (const auto& thread : trace.threads) {
    const model::ThreadTimes& times = thread->times();
    if (const auto& history = thread->info().history; history && !history->stretches.empty())
      take(history->stretches.front().begin);
    take(times.began());
    take(times.ended());
    if (times.readings().empty()) continue;
    take(times.readings().front().time);
    take(times.readings().back().time);
  }
  showAll();
}

double TimeAxis::xOf(model::Ticks time, double width) const {
  return m_to > m_from ? (ticksOf(time) - m_from) / (m_to - m_from) * width : 0;
}

model::Ticks TimeAxis::timeAt(double x, double width) const {
  if (width <= 0) return {};
  const double ticks = m_from + x / width * (m_to - m_from);
  return {static_cast<std::uint64_t>(std::clamp(ticks, std::max(0.0, m_first), m_last))};
}

void TimeAxis::showAll() {
  // A little room, so that what is at the very end can be seen.
  const double room = (m_last - m_first) * 0.015;
  m_from = m_first - room;
  m_to = m_last + room;
}

void TimeAxis::clamp() {
  const double room = (m_last - m_first) * 0.015;
  const double span = std::min(m_to - m_from, m_last - m_first + 2 * room);
  m_from = std::clamp(m_from, m_first - room, std::max(m_first - room, m_last + room - span));
  m_to = m_from + span;
}

void TimeAxis::zoom(double factor, double x, double width) {
  if (!valid() || width <= 0) return;
  const double at = m_from + x / width * (m_to - m_from);
  const double least = std::min(kLeastTicks, kLeastShare * (m_last - m_first));
  const double span = std::max((m_to - m_from) / factor, least);
  m_from = at - x / width * span;
  m_to = m_from + span;
  clamp();
}

void TimeAxis::pan(double share) {
  const double step = share * (m_to - m_from);
  m_from += step;
  m_to += step;
  clamp();
}

void TimeAxis::reveal(double from, double to) {
  const double span = m_to - m_from;
  if (to - from > span) from = to = (from + to) / 2;
  if (from >= m_from && to <= m_to) return;
  m_from = from < m_from ? from - span * 0.1 : to - span * 0.9;
  m_to = m_from + span;
  clamp();
}

std::optional<double> TimeAxis::nanosecondsATick(const model::Trace& trace) const {
  const auto first = trace.wallClock({static_cast<std::uint64_t>(m_first)});
  const auto last = trace.wallClock({static_cast<std::uint64_t>(m_last)});
  if (!first || !last || last->value <= first->value) return std::nullopt;
  return static_cast<double>(last->value - first->value) / (m_last - m_first);
}

QString TimeAxis::unit(const model::Trace& trace) const {
  if (!valid() || nanosecondsATick(trace)) return tr("time before the end of the trace");
  // Of a process that is known but has no clock, ticks are counted events (runtime/format/clock.h).
  return !trace.clockStart && trace.summary.pid != 0 ? tr("events before the end; times are not known")
                                                     : tr("clock ticks before the end; times are not known");
}

QList<TimeAxis::Mark> TimeAxis::marks(const model::Trace& trace, double width, double spacing) const {
  QList<Mark> result;
  if (!valid() || width <= 0) return result;
  const auto tick = nanosecondsATick(trace);
  const double scale = tick.value_or(1);
  const double least = (m_to - m_from) * scale * spacing / width;
  double step = std::pow(10.0, std::floor(std::log10(least)));
  for (const double times : {1.0, 2.0, 5.0, 10.0}) {
    if (step * times < least) continue;
    step *= times;
    break;
  }
  const auto oldest = static_cast<std::int64_t>(std::ceil((m_from - m_last) * scale / step));
  const auto newest =
      std::min<std::int64_t>(0, static_cast<std::int64_t>(std::floor((m_to - m_last) * scale / step)));
  for (auto i = oldest; i <= newest; ++i) {
    const double at = static_cast<double>(i) * step;
    const auto back = static_cast<std::uint64_t>(std::llround(std::abs(at)));
    const QString text = tick ? duration(back) : count(back);
    result.append({(m_last + at / scale - m_from) / (m_to - m_from) * width,
                   back == 0 ? QStringLiteral("0") : QStringLiteral("\u2212") + text});
  }
  return result;
}

}  // namespace traceback::views
