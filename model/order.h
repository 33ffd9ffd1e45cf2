// What ran before what, in different threads. Only readings of the clock tell (thread_times.h), so there are
// three answers: before, after, and that it is not known. The clock is the time stamp counter, which is the
// same on all processors of the machines that this runs on.
#pragma once

#include <cstdint>
#include <vector>

#include "model/entry.h"
#include "model/ids.h"

namespace traceback::model {

class Trace;

enum class Order : std::uint8_t {
  Same,     // it is the same entry
  Before,   // was over before the other began
  After,    // began when the other was over
  Unknown,  // no reading lies between them
};

// How `a` stands to `b`. In one thread always known.
Order orderOf(const Trace& trace, TracePlace a, TracePlace b);

// Where a thread may have been while an entry of another one ran: in one of [first, end). All that is before
// is Before that entry, all behind is After.
struct Whereabouts {
  EntryIndex first = 0, end = 0;
  bool notBegun = false;  // the thread began when the entry was over; then first = end = 0
  bool over = false;  // the thread had ended before the entry began; then first = end = its entry count
  bool certain() const { return end - first == 1; }
  bool contains(EntryIndex entry) const { return entry >= first && entry < end; }
  Order orderOf(EntryIndex entry) const {
    return entry < first ? Order::Before : entry < end ? Order::Unknown : Order::After;
  }
  friend bool operator==(const Whereabouts&, const Whereabouts&) = default;
};
// In the thread of `at` itself: that entry alone.
Whereabouts whereaboutsAt(const Trace& trace, TracePlace at, ThreadIndex thread);

// All entries of some threads in one order that contradicts nothing that is known. Made of stretches: what a
// thread did from one reading of its clock to the next. What ran at the same time as a stretch, as far as one
// knows, stands before or behind it as a whole.
struct ThreadStretch {
  ThreadIndex thread;
  EntryIndex first = 0, end = 0;
  std::uint64_t position = 0;  // of its first entry, among all entries of the threads
};

class Interleaving {
 public:
  Interleaving() = default;
  Interleaving(const Trace& trace, const std::vector<ThreadIndex>& threads);

  const std::vector<ThreadStretch>& stretches() const { return m_stretches; }
  std::uint64_t entryCount() const { return m_entries; }
  // The stretch that has an entry; the count of stretches if there is none.
  std::size_t stretchOf(TracePlace place) const;

 private:
  std::vector<ThreadStretch> m_stretches;
  std::uint64_t m_entries = 0;
  // By thread: its stretches, oldest first.
  std::vector<std::vector<std::size_t>> m_byThread;
};

// The other threads, ascending, some of whose entries are in no known order to some of the stretch.
std::vector<ThreadIndex> unorderedWith(const Trace& trace, const ThreadStretch& stretch);

}  // namespace traceback::model
