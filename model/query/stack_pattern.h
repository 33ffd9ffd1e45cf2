// stack=<*,a,b> of a question, asked of one stack after the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/query/patterns.h"
#include "model/query/running_stack.h"

namespace traceback::model {

class StackPattern {
 public:
  StackPattern(const Trace& trace, const std::vector<std::string>& frames);

  // Of the calls around an entry, whose index this is; of a Call entry with its callee as the innermost. What
  // was worked out of a level is kept: only what is new since the last one is gone through.
  bool holds(RunningStack& stack, EntryIndex at, const Entry& entry);

 private:
  // Which frames may come next behind the calls of a level and those outside it; a bit each, and one for the
  // end of the pattern.
  using Word = std::uint64_t;
  static constexpr std::size_t kBits = 64;
  void follow(std::vector<Word>& next, std::size_t frame) const;
  std::vector<Word> behind(const Word* open, FunctionId function) const;

  std::vector<std::optional<FunctionSet>> m_frames;  // nothing: any calls
  std::size_t m_words;
  std::vector<Word> m_open;  // m_words at the outside of all, then for each level
  std::vector<std::uint64_t> m_serials;  // of the levels
};

}  // namespace traceback::model
