// What ran within one call: which lines and which instructions, how often, and where in the trace.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "model/call_tree.h"
#include "model/trace.h"

namespace traceback::views {

class ExecutedLines {
 public:
  // Entries looked at on either side of a place; a call of more is known in part only.
  static constexpr std::size_t kReach = 8'000;

  struct Range {
    model::ModuleId module;
    model::VirtAddr first, last;  // first and last instruction
    model::EntryIndex entry = 0;
  };

  // Looks around `at`. What was found before is kept if it still holds.
  void lookAround(const model::ThreadTrace& thread, model::EntryIndex at);
  void clear();

  const std::optional<model::CallSpan>& call() const { return m_call; }
  bool complete() const { return m_complete; }
  // Executions of the lines of a file directly in the call, oldest first, each by an entry to stand at. A
  // line that goes on after a call that it made is one execution.
  const std::map<std::uint32_t, std::vector<model::EntryIndex>>& lines(model::FileId file) const;
  // The entries of the innermost loop's round that `at` is in, by the addresses that its lines go back to; of
  // the whole call, as far as it was looked at, if it is in none. `at` was given to lookAround.
  struct Round {
    model::EntryIndex first = 0, last = 0;
    bool whole = true;
  };
  Round round(model::EntryIndex at) const;
  // Instruction ranges of the call and of what the compiler inlined into it, in the order of the trace.
  const std::vector<Range>& ranges();

 private:
  void lookAtLines(const model::ThreadTrace& thread, model::EntryIndex at);
  void lookAtRanges(const model::CallSpan& span);
  void add(const model::Entry& entry, model::EntryIndex index);

  const model::ThreadTrace* m_thread = nullptr;
  std::optional<model::CallSpan> m_call;
  model::EntryIndex m_at = 0;
  bool m_rangesKnown = false;
  bool m_complete = true;
  model::EntryIndex m_from = 0, m_to = 0;  // looked at
  std::map<model::FileId, std::map<std::uint32_t, std::vector<model::EntryIndex>>> m_lines;
  struct Direct {
    model::EntryIndex index = 0;
    model::VirtAddr address, last;
  };
  std::vector<Direct> m_direct;  // lines directly in the call, in order
  std::map<model::VirtAddr, model::VirtAddr> m_loops;  // by their first address: how far they reach
  std::vector<Range> m_ranges;
  model::Entry m_last;  // the line that was added last, and where it was
  model::EntryIndex m_lastIndex = 0;
};

}  // namespace traceback::views
