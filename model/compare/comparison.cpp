#include "model/compare/comparison.h"

#include <algorithm>
#include <format>
#include <set>
#include <utility>

#include "model/compare/entry_keys.h"
#include "model/compare/path_tree.h"
#include "model/compare/stretches.h"
#include "model/trace.h"

namespace traceback::model {

namespace {

// Entries of each side that are aligned at most: about 100 bytes of memory each.
constexpr EntryIndex kMostEntries = 3'000'000;
constexpr std::size_t kBatch = 8192;
// Calls within calls whose insides are aligned as trees; what is deeper is aligned entry by entry.
constexpr int kDeepestTree = 400;

// Whether a thread's trace begins later than the thread, so that what comes first is there by chance.
bool beginsLate(const ThreadTrace& thread) {
  constexpr std::size_t kLook = 8;
  for (const Entry& entry : thread.entries(0, kLook)) {
    if (entry.kind == EntryKind::Gap) return true;
    if (entry.kind == EntryKind::Line) return false;
  }
  return false;
}

// Entries that are alike by position.
EntryIndex commonBeginning(const ThreadTrace& left, const ThreadTrace& right, const EntryKeys& keys,
                           const Effort& effort) {
  EntryIndex at = 0;
  while (!effort.cancelled()) {
    const auto mine = left.entries(at, kBatch), other = right.entries(at, kBatch);
    const std::size_t both = std::min(mine.size(), other.size());
    for (std::size_t i = 0; i < both; ++i, ++at)
      if (mine[i].depth != other[i].depth || keys.key(Side::Left, mine[i]) != keys.key(Side::Right, other[i]))
        return at;
    if (both < kBatch) break;
  }
  return at;
}

class Comparer {
 public:
  Comparer(const PathTree& left, const PathTree& right, From from, Effort& effort, StretchList& out)
      : m_left(left), m_right(right), m_from(from), m_effort(effort), m_out(out) {}

  void compare(std::vector<std::string>& notes) {
    if (m_from == From::End && !outermostAnswer() && compareFromWithin(notes)) return;
    inside(m_left.root(), m_right.root(), 0);
  }

 private:
  struct Items {
    std::size_t begin, end;
  };

  bool outermostAnswer() const {
    const auto common = align(m_left.root().calls, m_right.root().calls, m_from, m_effort).common;
    return !common.empty();
  }

  // The outermost call of one trace answers one within the other: both began long before, and one came back
  // to callers that the other never saw again.
  bool compareFromWithin(std::vector<std::string>& notes) {
    for (const bool leftIsInner : {true, false}) {
      const PathTree& inner = leftIsInner ? m_left : m_right;
      const PathTree& outer = leftIsInner ? m_right : m_left;
      const PathNode* outermost = nullptr;
      for (const PathItem& item : inner.root().items)
        if (item.node != kNoNode && inner.node(item.node).function != 0) outermost = &inner.node(item.node);
      if (outermost == nullptr) continue;
      std::uint32_t best = kNoNode;
      std::size_t most = 0, candidates = 0;
      const std::set<std::uint64_t> mine(outermost->calls.begin(), outermost->calls.end());
      for (std::uint32_t i = 1; i < outer.size(); ++i) {
        if (outer.node(i).function != outermost->function) continue;
        ++candidates;
        std::set<std::uint64_t> shared;
        for (const std::uint64_t key : outer.node(i).calls)
          if (mine.contains(key)) shared.insert(key);
        if (shared.size() >= most) best = i, most = shared.size();
      }
      if (best == kNoNode || most == 0) continue;
      const PathNode& answer = outer.node(best);
      notes.push_back(
          std::format("The {} trace begins within a call that lies deeper in the {} one{}.",
                      leftIsInner ? "left" : "right", leftIsInner ? "right" : "left",
                      candidates > 1 ? "; of several that it may be, the likeliest is taken" : ""));
      const PathNode& l = leftIsInner ? *outermost : answer;
      const PathNode& r = leftIsInner ? answer : *outermost;
      m_out.onlyOne(Side::Left, m_left.first(), l.begin);
      m_out.onlyOne(Side::Right, m_right.first(), r.begin);
      calls(l, r, 0);
      m_out.onlyOne(Side::Left, l.end, m_left.end());
      m_out.onlyOne(Side::Right, r.end, m_right.end());
      return true;
    }
    return false;
  }

  // Two calls of one function.
  void calls(const PathNode& left, const PathNode& right, int depth) {
    const EntryIndex leftIn = left.begin + (left.called ? 1 : 0);
    const EntryIndex rightIn = right.begin + (right.called ? 1 : 0);
    if (left.called && right.called)
      m_out.same(1);
    else
      onlyRanges(left.begin, leftIn, right.begin, rightIn);
    const EntryIndex leftOut = left.end - (left.finished ? 1 : 0);
    const EntryIndex rightOut = right.end - (right.finished ? 1 : 0);
    if (depth < kDeepestTree)
      inside(left, right, depth + 1);
    else
      flat(leftIn, leftOut, rightIn, rightOut);
    if (left.finished && right.finished && m_left.key(leftOut) == m_right.key(rightOut))
      m_out.same(1);
    else
      onlyRanges(leftOut, left.end, rightOut, right.end);
  }

  // What happened in them.
  void inside(const PathNode& left, const PathNode& right, int depth) {
    // A call that was entered unseen begins anywhere.
    const From from = m_from == From::End && !(left.called && right.called) ? From::End : From::Start;
    const Alignment whole = align(left.whole, right.whole, from, m_effort);
    Items l{0, 0}, r{0, 0};
    for (std::size_t i = 0; i <= whole.common.size(); ++i) {
      const bool last = i == whole.common.size();
      l.end = last ? left.items.size() : whole.common[i].left;
      r.end = last ? right.items.size() : whole.common[i].right;
      between(left, l, right, r, from, depth);
      if (last) return;
      l.begin = l.end + whole.common[i].count;
      r.begin = r.end + whole.common[i].count;
      m_out.same(beginOf(left, l.begin) - beginOf(left, l.end));
    }
  }

  // Items that are not the same as a whole: calls of one function answer each other all the same.
  void between(const PathNode& left, Items l, const PathNode& right, Items r, From from, int depth) {
    const auto part = [](const std::vector<std::uint64_t>& keys, Items items) {
      return std::span(keys).subspan(items.begin, items.end - items.begin);
    };
    const Alignment found = align(part(left.calls, l), part(right.calls, r), from, m_effort);
    std::size_t i = l.begin, j = r.begin;
    for (std::size_t n = 0; n <= found.common.size(); ++n) {
      const bool last = n == found.common.size();
      const std::size_t iEnd = last ? l.end : l.begin + found.common[n].left;
      const std::size_t jEnd = last ? r.end : r.begin + found.common[n].right;
      const EntryIndex ranges[] = {beginOf(left, i), beginOf(left, iEnd), beginOf(right, j),
                                   beginOf(right, jEnd)};
      if (found.unknownBefore[n])
        m_out.unknown(ranges[0], ranges[1], ranges[2], ranges[3]);
      else
        onlyRanges(ranges[0], ranges[1], ranges[2], ranges[3]);
      if (last) return;
      for (std::size_t k = 0; k < found.common[n].count; ++k) {
        const PathItem &mine = left.items[iEnd + k], &other = right.items[jEnd + k];
        if (mine.node != kNoNode && other.node != kNoNode)
          calls(m_left.node(mine.node), m_right.node(other.node), depth);
        else
          m_out.same(1);
      }
      i = iEnd + found.common[n].count;
      j = jEnd + found.common[n].count;
    }
  }

  void flat(EntryIndex left, EntryIndex leftEnd, EntryIndex right, EntryIndex rightEnd) {
    const Alignment found =
        align(m_left.keys(left, leftEnd), m_right.keys(right, rightEnd), m_from, m_effort);
    EntryIndex i = left, j = right;
    for (std::size_t n = 0; n <= found.common.size(); ++n) {
      const bool last = n == found.common.size();
      const EntryIndex iEnd = last ? leftEnd : left + found.common[n].left;
      const EntryIndex jEnd = last ? rightEnd : right + found.common[n].right;
      if (found.unknownBefore[n])
        m_out.unknown(i, iEnd, j, jEnd);
      else
        onlyRanges(i, iEnd, j, jEnd);
      if (last) return;
      m_out.same(found.common[n].count);
      i = iEnd + found.common[n].count;
      j = jEnd + found.common[n].count;
    }
  }

  void onlyRanges(EntryIndex left, EntryIndex leftEnd, EntryIndex right, EntryIndex rightEnd) {
    m_out.onlyOne(Side::Left, left, leftEnd);
    m_out.onlyOne(Side::Right, right, rightEnd);
  }

  // Where an item begins; behind the last, where the items end.
  static EntryIndex beginOf(const PathNode& node, std::size_t item) {
    if (item < node.items.size()) return node.items[item].begin;
    return node.end - (node.finished ? 1 : 0);
  }

  const PathTree &m_left, &m_right;
  From m_from;
  Effort& m_effort;
  StretchList& m_out;
};

}  // namespace

std::uint64_t Comparison::sameCount() const {
  std::uint64_t count = 0;
  for (const Stretch& stretch : stretches)
    if (stretch.kind == Stretch::Kind::Same) count += stretch.leftCount;
  return count;
}

Comparison compareThreads(const Trace& left, ThreadIndex leftThread, const Trace& right,
                          ThreadIndex rightThread, std::stop_token stop) {
  Comparison result;
  const ThreadTrace& mine = *left.threads[leftThread.value];
  const ThreadTrace& other = *right.threads[rightThread.value];
  const EntryKeys keys(left, right);
  result.notes = keys.notes();
  Effort effort;
  effort.stop = std::move(stop);
  const bool leftLate = beginsLate(mine), rightLate = beginsLate(other);
  const bool late = leftLate || rightLate;

  StretchList out;
  EntryIndex leftFirst = 0, rightFirst = 0;
  EntryIndex leftEnd = mine.entryCount(), rightEnd = other.entryCount();
  if (!late) {
    const EntryIndex common = commonBeginning(mine, other, keys, effort);
    out.same(common);
    leftFirst = rightFirst = common;
    leftEnd = std::min(leftEnd, leftFirst + kMostEntries);
    rightEnd = std::min(rightEnd, rightFirst + kMostEntries);
    if (leftEnd < mine.entryCount() || rightEnd < other.entryCount())
      result.notes.push_back(std::format(
          "Only the {} entries of each side that follow the first parting were aligned.", kMostEntries));
  } else {
    leftFirst = leftEnd > kMostEntries ? leftEnd - kMostEntries : 0;
    rightFirst = rightEnd > kMostEntries ? rightEnd - kMostEntries : 0;
    if (leftFirst != 0 || rightFirst != 0)
      result.notes.push_back(
          std::format("Only the last {} entries of each side were aligned.", kMostEntries));
    const char* which = leftLate && rightLate ? "Both traces begin"
                        : leftLate            ? "The left trace begins"
                                              : "The right trace begins";
    result.notes.push_back(std::format(
        "{} later than the thread: the paths are aligned from their ends, and rounds of a loop that "
        "began earlier may answer other rounds.",
        which));
  }
  {
    const PathTree leftTree(mine, leftFirst, leftEnd, Side::Left, keys, effort);
    const PathTree rightTree(other, rightFirst, rightEnd, Side::Right, keys, effort);
    out.onlyOne(Side::Left, 0, late ? leftFirst : 0);
    out.onlyOne(Side::Right, 0, late ? rightFirst : 0);
    if (!effort.cancelled())
      Comparer(leftTree, rightTree, late ? From::End : From::Start, effort, out).compare(result.notes);
    if (!effort.cancelled()) {
      out.unknown(leftTree.end(), mine.entryCount(), rightTree.end(), other.entryCount());
      out.finish(leftTree, rightTree, mine, other, late);
    }
  }
  result.cancelled = effort.cancelled();
  result.stretches = out.take();
  for (std::size_t i = 0; i < result.stretches.size();) {
    const auto differs = [&](std::size_t at) {
      const auto kind = result.stretches[at].kind;
      return kind != Stretch::Kind::Same && kind != Stretch::Kind::Before;
    };
    if (!differs(i)) {
      ++i;
      continue;
    }
    Difference difference{i, i};
    while (difference.end < result.stretches.size() && differs(difference.end)) ++difference.end;
    i = difference.end;
    result.differences.push_back(difference);
  }
  const auto unknown = std::ranges::count(result.stretches, Stretch::Kind::Unknown, &Stretch::kind);
  if (unknown > 0)
    result.notes.push_back(std::format("{} {} not aligned: too much differs there, or a gap hides what ran.",
                                       unknown, unknown == 1 ? "stretch is" : "stretches are"));
  return result;
}

}  // namespace traceback::model
