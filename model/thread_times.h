// When the entries of a thread ran, as far as its readings of the clock tell. A thread reads the clock seldom
// (at its start and end, at signals, around calls that wait, whenever a sub-buffer of its ring is full), so
// of most entries only bounds are known.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "model/entry.h"
#include "model/ids.h"

namespace traceback::model {

// A reading: the entries below `open` were over by then, those from `next` on began after it. One of those
// between, if there are any, went on behind it: a line that ran on, or a gap; or it is not known which did.
struct ClockReading {
  EntryIndex next = 0;
  Ticks time;
  EntryIndex open = 0;
  friend bool operator==(const ClockReading&, const ClockReading&) = default;
};

// It began at `from` or later, and was over at `to` or earlier; nothing where that is not known.
struct TimeBounds {
  std::optional<Ticks> from, to;
  friend bool operator==(const TimeBounds&, const TimeBounds&) = default;
};

// What a picture of a thread over time marks: signals, exceptions, synchronisation but for waits, gaps.
struct TimedEvent {
  EntryIndex entry = 0;
  EntryKind kind = EntryKind::Sync;
  std::uint32_t detail = 0;  // as Entry::detail
};

class ThreadTimes {
 public:
  static constexpr std::size_t kMostEvents = 4096;

  // Takes the thread's entries, oldest first, in as many pieces as one likes.
  void add(EntryIndex first, std::span<const Entry> entries);
  // Nothing of the thread ran before, or after.
  void setLimits(std::optional<Ticks> began, std::optional<Ticks> ended);

  // False if the readings contradict the order in which the thread made them: then nothing is known.
  bool trusted() const { return m_trusted; }
  std::optional<Ticks> began() const { return m_trusted ? m_began : std::nullopt; }
  std::optional<Ticks> ended() const { return m_trusted ? m_ended : std::nullopt; }
  // Ascending in both; empty if not trusted.
  std::span<const ClockReading> readings() const {
    return m_trusted ? std::span<const ClockReading>(m_readings) : std::span<const ClockReading>();
  }
  TimeBounds boundsOf(EntryIndex entry) const;
  // The reading with which the entry begins, if it does with one: when it happened.
  std::optional<Ticks> readingAt(EntryIndex entry) const;
  // The first entry that was not over at `time`, and the first that began at `time` or later; nothing if all
  // were over, or none.
  std::optional<EntryIndex> firstNotOverAt(Ticks time) const;
  std::optional<EntryIndex> firstBegunAfter(Ticks time) const;

  // Oldest first: the last kMostEvents of them. `eventsLeftOut` were before.
  std::span<const TimedEvent> events() const { return m_events; }
  std::uint64_t eventsLeftOut() const { return m_eventsLeftOut; }

 private:
  std::vector<ClockReading> m_readings;
  std::optional<Ticks> m_began, m_ended;
  bool m_trusted = true;
  Ticks m_last;  // reading of the entry before
  std::size_t m_open = 0;  // entries before, for the next reading
  std::vector<TimedEvent> m_events;
  std::uint64_t m_eventsLeftOut = 0;
};

}  // namespace traceback::model
