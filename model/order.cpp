#include "model/order.h"

#include <algorithm>
#include <tuple>

#include "model/trace.h"

namespace traceback::model {

namespace {

const ThreadTrace* threadAt(const Trace& trace, ThreadIndex index) {
  return index.value < trace.threads.size() ? trace.threads[index.value].get() : nullptr;
}

bool isOver(const TimeBounds& a, const TimeBounds& b) { return a.to && b.from && *a.to <= *b.from; }

Whereabouts during(const ThreadTrace& thread, const TimeBounds& bounds) {
  const EntryIndex count = thread.entryCount();
  const ThreadTimes& times = thread.times();
  Whereabouts where{.first = 0, .end = count};
  if (bounds.to && times.began() && *times.began() >= *bounds.to) return {.notBegun = true};
  if (bounds.from && thread.info().ended && times.ended() && *times.ended() <= *bounds.from)
    return {.first = count, .end = count, .over = true};
  if (bounds.from) where.first = std::min(times.firstNotOverAt(*bounds.from).value_or(count), count);
  if (bounds.to) where.end = std::min(times.firstBegunAfter(*bounds.to).value_or(count), count);
  if (where.first < where.end || count == 0) return where;
  // At the moment of a reading the thread is where it made it.
  where.first = where.end > 0 ? where.end - 1 : 0;
  where.end = where.first + 1;
  return where;
}

}  // namespace

Order orderOf(const Trace& trace, TracePlace a, TracePlace b) {
  if (a.thread == b.thread)
    return a.entry == b.entry ? Order::Same : a.entry < b.entry ? Order::Before : Order::After;
  const ThreadTrace* of = threadAt(trace, a.thread);
  const ThreadTrace* to = threadAt(trace, b.thread);
  if (of == nullptr || to == nullptr) return Order::Unknown;
  const TimeBounds first = of->times().boundsOf(a.entry), second = to->times().boundsOf(b.entry);
  const bool before = isOver(first, second), after = isOver(second, first);
  if (before == after) return Order::Unknown;
  return before ? Order::Before : Order::After;
}

Whereabouts whereaboutsAt(const Trace& trace, TracePlace at, ThreadIndex thread) {
  const ThreadTrace* of = threadAt(trace, at.thread);
  const ThreadTrace* other = threadAt(trace, thread);
  if (of == nullptr || other == nullptr) return {};
  if (at.thread == thread) return {.first = at.entry, .end = at.entry + 1};
  return during(*other, of->times().boundsOf(at.entry));
}

Interleaving::Interleaving(const Trace& trace, const std::vector<ThreadIndex>& threads) {
  struct Timed {
    ThreadStretch stretch;
    TimeBounds bounds;
  };
  std::vector<Timed> all;
  for (const ThreadIndex index : threads) {
    const ThreadTrace* thread = threadAt(trace, index);
    if (thread == nullptr) continue;
    EntryIndex first = 0;
    const auto add = [&](EntryIndex end) {
      if (end <= first) return;
      TimeBounds bounds = thread->times().boundsOf(first);
      bounds.to = thread->times().boundsOf(end - 1).to;
      all.push_back({.stretch = {.thread = index, .first = first, .end = end}, .bounds = bounds});
      first = end;
    };
    for (const ClockReading& reading : thread->times().readings()) add(reading.next);
    add(thread->entryCount());
  }
  // Whatever is before something else begins earlier; where both begin at one moment, the one that is over
  // then.
  std::ranges::sort(all, {}, [](const Timed& timed) {
    return std::tuple(timed.bounds.from.value_or(Ticks{0}), timed.bounds.to.value_or(Ticks{UINT64_MAX}),
                      timed.stretch.thread, timed.stretch.first);
  });
  m_byThread.resize(trace.threads.size());
  m_stretches.reserve(all.size());
  for (const Timed& timed : all) {
    m_byThread[timed.stretch.thread.value].push_back(m_stretches.size());
    m_stretches.push_back(timed.stretch);
    m_stretches.back().position = m_entries;
    m_entries += timed.stretch.end - timed.stretch.first;
  }
}

std::size_t Interleaving::stretchOf(TracePlace place) const {
  if (place.thread.value >= m_byThread.size()) return m_stretches.size();
  const auto& own = m_byThread[place.thread.value];
  const auto after = std::ranges::upper_bound(own, place.entry, {},
                                              [this](std::size_t at) { return m_stretches[at].first; });
  if (after == own.begin()) return m_stretches.size();
  const std::size_t at = *(after - 1);
  return place.entry < m_stretches[at].end ? at : m_stretches.size();
}

std::vector<ThreadIndex> unorderedWith(const Trace& trace, const ThreadStretch& stretch) {
  std::vector<ThreadIndex> result;
  const ThreadTrace* own = threadAt(trace, stretch.thread);
  if (own == nullptr || stretch.end <= stretch.first) return result;
  TimeBounds bounds = own->times().boundsOf(stretch.first);
  bounds.to = own->times().boundsOf(stretch.end - 1).to;
  for (std::uint32_t i = 0; i < trace.threads.size(); ++i) {
    const ThreadTrace& other = *trace.threads[i];
    if (i == stretch.thread.value || other.entryCount() == 0) continue;
    const Whereabouts where = during(other, bounds);
    if (where.notBegun || where.over) continue;
    result.push_back({i});
  }
  return result;
}

}  // namespace traceback::model
