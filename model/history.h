// What a thread did before its exact trace begins: a summary, from samples of records that were overwritten.
//
// Counts are of what was read, never more than there was, and nothing is inferred for what was not read.
// Immutable once built.
#pragma once

#include <cstdint>
#include <vector>

#include "model/ids.h"

namespace traceback::model {

// Where a record began, or went on in another function: its address and, with debug information, its line.
struct HistoryPlace {
  enum class Kind : std::uint8_t {
    Code,   // behind a call, at a jump's target and the like
    Entry,  // of the function: each count is a call
    Loop,   // its top: each count is a round
  };
  Kind kind = Kind::Code;
  FileId file;  // none without line information
  std::uint32_t line = 0;  // 0: none
  VirtAddr address;
  std::uint64_t times = 0;
};

struct HistoryFunction {
  ModuleId module;
  FunctionId function;  // none: records of a module without a map
  std::uint64_t times = 0;  // the sum of its places'
  std::vector<HistoryPlace> places;  // most frequent first
};

// A stretch of time, and what was found in the parts of it that were looked into.
struct HistoryStretch {
  Ticks begin, end;  // 0 if not known
  std::uint64_t parts = 0;  // of the ring, that were overwritten: at least one
  std::uint64_t looked = 0;  // of these, looked into
  std::uint64_t words = 0;  // in all parts: there were no more records than that
  std::uint64_t sampled = 0;  // records read
  std::uint64_t unnamed = 0;  // of these, what there was no room to tell apart, or nobody knows
  std::vector<HistoryFunction> functions;  // most frequent first; their times and `unnamed` make counted()

  // Of what all times are shares: a record counts for each function that it is of, as if it were several.
  std::uint64_t counted() const {
    std::uint64_t sum = unnamed;
    for (const HistoryFunction& function : functions) sum += function.times;
    return sum;
  }
};

struct ThreadHistory {
  std::vector<HistoryStretch> stretches;  // oldest first; they do not overlap
};

}  // namespace traceback::model
