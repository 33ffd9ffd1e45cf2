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
  // Executions of the lines of a file directly in the call, oldest first. A line that goes on after a call
  // that it made is one execution.
  const std::map<std::uint32_t, std::vector<model::EntryIndex>>& lines(model::FileId file) const;
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
  std::vector<Range> m_ranges;
  model::Entry m_last;  // the line that was added last, and where it was
  model::EntryIndex m_lastIndex = 0;
};

}  // namespace traceback::views
