// What the formats of an export share, and the writer of each.
#pragma once

#include "model/export/trace_export.h"
#include "model/history.h"

namespace traceback::model {

struct ExportJob {
  const Trace& trace;
  std::span<const ExportRange> ranges;
  const SourceLine& sources;
  const Sink& sink;
  std::stop_token stop;

  // Calls `each` with the index and the entry, in order; false if it says so, or if stopped.
  bool forEach(const ExportRange& range, const std::function<bool(EntryIndex, const Entry&)>& each) const;
};

// What the thread did before its trace; null where that is not known, or the range begins later than the
// trace.
const ThreadHistory* historyBefore(const ExportJob& job, const ExportRange& range);

bool writeHtml(const ExportJob& job);
bool writePerfetto(const ExportJob& job);

// The calls that are open, by depth, as entries go by: says which are entered and left.
class OpenCalls {
 public:
  struct Change {
    std::size_t left = 0;     // so many innermost calls end before the entry
    std::size_t entered = 0;  // then so many are entered; the last of them is of the entry's function
    bool leaves = false;      // the entry itself ends the innermost call
  };
  Change add(const Entry& entry);
  std::size_t open() const { return m_open; }

 private:
  std::size_t m_open = 0;
};

}  // namespace traceback::model
