// Questions about when something ran. Answers are found by reading through a thread's entries, oldest first
// or newest first, a chunk at a time: they can be stopped, and say so if they were.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <variant>
#include <vector>

#include "model/call_tree.h"
#include "model/entry.h"
#include "model/ids.h"

namespace traceback::model {

class ThreadTrace;

struct LineQuery {  // what runs a source line: its Line entries, and calls that begin it (executions.h)
  FileId file;
  std::uint32_t line = 0;
  bool onlyStarts = false;  // without those in which an execution goes on: continuesLine()
};
struct FunctionQuery {  // calls of any of some functions: one and its inlined copies, say
  std::vector<FunctionId> functions;
};
struct ExceptionQuery {};  // Exception entries
struct SignalQuery {};     // Signal entries
struct GapQuery {};        // Gap entries
struct AnyEventQuery {};   // steppable entries that are no lines, and the fault
struct AddressQuery {      // Line entries that an instruction is of
  ModuleId module;
  VirtAddr address;
};
using Query = std::variant<LineQuery, FunctionQuery, ExceptionQuery, SignalQuery, GapQuery, AnyEventQuery,
                           AddressQuery>;

// `match` is the entry that answers: the Call entry of a function, or, if the trace begins inside one, its
// first steppable entry. `position` is where a cursor would stand for it: the match or the first steppable
// one after it.
struct Hit {
  EntryIndex match = 0;
  std::optional<EntryIndex> position;
  friend bool operator==(const Hit&, const Hit&) = default;
};
struct Found {
  std::optional<Hit> hit;
  bool cancelled = false;
};
// The nearest hit whose match is after `from`; the nearest one whose position is before `from`.
Found findNext(const ThreadTrace& thread, EntryIndex from, const Query& query,
               const std::stop_token& stop = {});
Found findPrevious(const ThreadTrace& thread, EntryIndex from, const Query& query,
                   const std::stop_token& stop = {});

// At most `limit` hits, oldest first, whose match is `from` or later. `more`: there are, or may be, others.
struct AllFound {
  std::vector<Hit> hits;
  bool more = false;
  bool cancelled = false;
};
AllFound findAll(const ThreadTrace& thread, const Query& query, std::size_t limit, EntryIndex from = 0,
                 const std::stop_token& stop = {});

// The lines that ran in one call itself, not in what it called, by file and line. A line that goes on after a
// call that it made is counted once. `nearest` is the execution nearest to `at`. Not `complete` if stopped,
// or if there were more than `limit` entries to read.
struct LineHits {
  FileId file;
  std::uint32_t line = 0;
  std::uint64_t count = 0;
  EntryIndex nearest = 0;
  friend bool operator==(const LineHits&, const LineHits&) = default;
};
struct CallLines {
  std::vector<LineHits> lines;
  bool complete = true;
};
CallLines linesOfCall(const ThreadTrace& thread, const CallSpan& call, EntryIndex at,
                      std::uint64_t limit = 4'000'000, const std::stop_token& stop = {});

}  // namespace traceback::model
