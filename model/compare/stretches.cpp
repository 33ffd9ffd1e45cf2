#include "model/compare/stretches.h"

#include <algorithm>

#include "model/compare/path_tree.h"
#include "model/trace.h"

namespace traceback::model {

namespace {

using Kind = Stretch::Kind;

// Whether [begin, end) goes on, or leads up to, the same rounds beside it: how many they are.
std::uint64_t roundsIn(const PathTree& tree, EntryIndex begin, EntryIndex end) {
  if (begin < tree.keysFirst() || end > tree.end()) return 0;
  const auto repeats = [&](std::uint64_t period, bool backwards) {
    if (backwards ? begin - tree.keysFirst() < period : tree.end() - end < period) return false;
    for (EntryIndex at = begin; at < end; ++at)
      if (tree.key(at) != tree.key(backwards ? at - period : at + period)) return false;
    return true;
  };
  for (std::uint64_t period = 1; period <= std::min(end - begin, kLongestLoopRound); ++period)
    if ((end - begin) % period == 0 && (repeats(period, true) || repeats(period, false)))
      return (end - begin) / period;
  return 0;
}

bool holdsGap(const ThreadTrace& thread, EntryIndex begin, std::uint64_t count) {
  constexpr std::uint64_t kBatch = 8192;
  while (count > 0) {
    const auto entries = thread.entries(begin, static_cast<std::size_t>(std::min(count, kBatch)));
    if (entries.empty()) return false;
    if (std::ranges::contains(entries, EntryKind::Gap, &Entry::kind)) return true;
    begin += entries.size();
    count -= std::min<std::uint64_t>(count, entries.size());
  }
  return false;
}

}  // namespace

void StretchList::add(Stretch stretch) {
  if (stretch.leftCount == 0 && stretch.rightCount == 0) return;
  stretch.left = m_left;
  stretch.right = m_right;
  m_left += stretch.leftCount;
  m_right += stretch.rightCount;
  if (!m_stretches.empty()) {
    Stretch& last = m_stretches.back();
    if (last.kind == stretch.kind) {
      last.leftCount += stretch.leftCount;
      last.rightCount += stretch.rightCount;
      return;
    }
    // What is only left comes before what is only right.
    if (last.kind == Kind::Right && stretch.kind == Kind::Left) {
      stretch.right = last.right;
      last.left += stretch.leftCount;
      if (m_stretches.size() > 1 && m_stretches[m_stretches.size() - 2].kind == Kind::Left)
        m_stretches[m_stretches.size() - 2].leftCount += stretch.leftCount;
      else
        m_stretches.insert(m_stretches.end() - 1, stretch);
      return;
    }
  }
  m_stretches.push_back(stretch);
}

void StretchList::same(std::uint64_t count) {
  add({.kind = Kind::Same, .leftCount = count, .rightCount = count});
}

void StretchList::onlyOne(Side side, EntryIndex begin, EntryIndex end) {
  if (begin >= end) return;
  if (side == Side::Left)
    add({.kind = Kind::Left, .leftCount = end - begin});
  else
    add({.kind = Kind::Right, .rightCount = end - begin});
}

void StretchList::unknown(EntryIndex left, EntryIndex leftEnd, EntryIndex right, EntryIndex rightEnd) {
  add({.kind = Kind::Unknown, .leftCount = leftEnd - left, .rightCount = rightEnd - right});
}

void StretchList::finish(const PathTree& leftTree, const PathTree& rightTree, const ThreadTrace& left,
                         const ThreadTrace& right, bool late) {
  if (late) {
    for (Stretch& stretch : m_stretches) {
      if (stretch.kind == Kind::Same) break;
      stretch.kind = Kind::Before;
    }
    // With nothing in common there is no other trace for anything to be older than.
    if (!std::ranges::contains(m_stretches, Kind::Same, &Stretch::kind))
      for (Stretch& stretch : m_stretches) stretch.kind = Kind::Unknown;
  }
  for (Stretch& stretch : m_stretches) {
    if (stretch.kind != Kind::Left && stretch.kind != Kind::Right) continue;
    const bool isLeft = stretch.kind == Kind::Left;
    const EntryIndex begin = isLeft ? stretch.left : stretch.right;
    const std::uint64_t count = isLeft ? stretch.leftCount : stretch.rightCount;
    stretch.rounds = roundsIn(isLeft ? leftTree : rightTree, begin, begin + count);
    if (stretch.rounds == 0 && holdsGap(isLeft ? left : right, begin, count)) stretch.kind = Kind::Unknown;
  }
}

}  // namespace traceback::model
