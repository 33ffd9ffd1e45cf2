// The coarse history in a ring file (runtime/format/history.h), as one sequence of entries.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "loader/byte_source.h"
#include "runtime/format/history.h"
#include "runtime/format/ring.h"

namespace traceback::loader {

struct HistoryView {
  // Oldest first, none overlapping another, none reaching into what the ring still holds: as fine as there
  // are entries. Each adds up, and each of its records is a DAG record.
  std::vector<format::HistoryEntry> entries;
  // Of a history that counts for profiles, everything (then there are no entries) or a part: DAG records,
  // each once, in no order.
  std::vector<format::HistoryCount> counts;
  std::uint64_t uncounted = 0;  // records that its table had no room for
  // What was wrong, for the load report; empty if nothing was.
  std::string damage;
};

// Of the ring whose bytes `ring` has. Empty if it keeps no history, as those of older runtimes.
HistoryView readHistory(const ByteSource& ring, const format::RingHeader& header);

}  // namespace traceback::loader
