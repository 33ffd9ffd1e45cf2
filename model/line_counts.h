// How often each source line ran in all that a trace holds, of all threads. Found by reading through all of
// it: for a thread of its own.
#pragma once

#include <cstdint>
#include <stop_token>
#include <unordered_map>

#include "model/ids.h"

namespace traceback::model {

class Trace;

class LineCounts {
 public:
  // Executions; a line that goes on after a call that it made is counted once. 0 is "not in what the trace
  // holds", which is not "never".
  std::uint64_t of(FileId file, std::uint32_t line) const;
  // Whether all was read.
  bool complete() const { return m_complete; }

 private:
  friend LineCounts countLines(const Trace& trace, const std::stop_token& stop);
  std::unordered_map<std::uint64_t, std::uint64_t> m_counts;
  bool m_complete = false;
};

LineCounts countLines(const Trace& trace, const std::stop_token& stop = {});

}  // namespace traceback::model
