// Collects what a comparison finds, in order, and sorts out what it means.
#pragma once

#include <vector>

#include "model/compare/comparison.h"
#include "model/compare/entry_keys.h"

namespace traceback::model {

class PathTree;
class ThreadTrace;

class StretchList {
 public:
  // Each begins where the ones before it ended on its side.
  void same(std::uint64_t count);
  void onlyOne(Side side, EntryIndex begin, EntryIndex end);
  void unknown(EntryIndex left, EntryIndex leftEnd, EntryIndex right, EntryIndex rightEnd);

  // Says what is a further round of a loop, what a gap hides, and, if a trace begins late, what lies before
  // the other.
  void finish(const PathTree& leftTree, const PathTree& rightTree, const ThreadTrace& left,
              const ThreadTrace& right, bool late);
  std::vector<Stretch> take() { return std::move(m_stretches); }

 private:
  void add(Stretch stretch);

  std::vector<Stretch> m_stretches;
  EntryIndex m_left = 0, m_right = 0;  // where the next begin
};

}  // namespace traceback::model
