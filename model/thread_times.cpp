#include "model/thread_times.h"

#include <algorithm>

namespace traceback::model {

void ThreadTimes::add(EntryIndex first, std::span<const Entry> entries) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    if (entry.time != m_last && entry.time.value != 0) {
      if (entry.time < m_last) m_trusted = false;
      m_readings.push_back({.next = first + i, .time = entry.time, .open = first + i - m_open});
      m_last = entry.time;
      m_open = 0;
    }
    m_open = (entry.flags & kEntryAcrossReading) != 0 ? m_open + 1 : 0;
    if (entry.kind == EntryKind::Line || entry.kind == EntryKind::Call || entry.kind == EntryKind::Return)
      continue;
    // Threads that wait all the time would push everything else out.
    if (entry.kind == EntryKind::Sync && isWait(static_cast<SyncCause>(entry.detail))) continue;
    m_events.push_back({.entry = first + i, .kind = entry.kind, .detail = entry.detail});
    // Not one by one: that would move all of them each time.
    if (m_events.size() < 2 * kMostEvents) continue;
    m_events.erase(m_events.begin(), m_events.begin() + kMostEvents);
    m_eventsLeftOut += kMostEvents;
  }
}

void ThreadTimes::setLimits(std::optional<Ticks> began, std::optional<Ticks> ended) {
  if (m_events.size() > kMostEvents) {
    const std::size_t more = m_events.size() - kMostEvents;
    m_events.erase(m_events.begin(), m_events.begin() + static_cast<std::ptrdiff_t>(more));
    m_eventsLeftOut += more;
  }
  m_events.shrink_to_fit();
  m_readings.shrink_to_fit();
  // A limit from elsewhere that contradicts what the thread itself read says nothing.
  m_began = began && (m_readings.empty() || *began <= m_readings.front().time) ? began : std::nullopt;
  m_ended = ended && (m_readings.empty() || *ended >= m_readings.back().time) ? ended : std::nullopt;
  if (m_began && m_ended && *m_ended < *m_began) m_began = m_ended = std::nullopt;
}

TimeBounds ThreadTimes::boundsOf(EntryIndex entry) const {
  if (!m_trusted) return {};
  TimeBounds bounds{.from = m_began, .to = m_ended};
  auto after = std::ranges::upper_bound(m_readings, entry, {}, &ClockReading::next);
  if (after != m_readings.begin()) bounds.from = (after - 1)->time;
  if (after != m_readings.end() && after->open <= entry) ++after;
  if (after != m_readings.end()) bounds.to = after->time;
  return bounds;
}

std::optional<Ticks> ThreadTimes::readingAt(EntryIndex entry) const {
  const auto at = std::ranges::lower_bound(readings(), entry, {}, &ClockReading::next);
  return at != readings().end() && at->next == entry ? std::optional(at->time) : std::nullopt;
}

std::optional<EntryIndex> ThreadTimes::firstNotOverAt(Ticks time) const {
  if (!m_trusted) return EntryIndex{0};
  if (m_ended && *m_ended <= time) return std::nullopt;
  const auto after = std::ranges::upper_bound(m_readings, time, {}, &ClockReading::time);
  if (after == m_readings.begin()) return EntryIndex{0};
  return (after - 1)->open;
}

std::optional<EntryIndex> ThreadTimes::firstBegunAfter(Ticks time) const {
  if (!m_trusted) return std::nullopt;
  if (m_began && *m_began >= time) return EntryIndex{0};
  const auto at = std::ranges::lower_bound(m_readings, time, {}, &ClockReading::time);
  return at == m_readings.end() ? std::nullopt : std::optional(at->next);
}

}  // namespace traceback::model
