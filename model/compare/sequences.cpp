#include "model/compare/sequences.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace traceback::model {

namespace {

using Keys = std::span<const std::uint64_t>;

// Edits beyond which two sequences count as not alike; its square is the memory that is used.
constexpr std::ptrdiff_t kMostEdits = 1500;

struct Pair {
  std::size_t left, right;
};

class Aligner {
 public:
  Aligner(Keys left, Keys right, Effort& effort) : m_left(left), m_right(right), m_effort(effort) {}

  struct Range {
    std::size_t left, leftEnd, right, rightEnd;
  };
  struct Found {
    std::vector<Pair> pairs;
    std::vector<Range> unknown;
  };

  Found run() {
    // A stack of its own: anchors may divide a range very often.
    std::vector<Range> open{{0, m_left.size(), 0, m_right.size()}};
    while (!open.empty()) {
      const Range range = open.back();
      open.pop_back();
      divide(range, open);
    }
    std::ranges::sort(m_found.pairs, {}, &Pair::left);
    std::ranges::sort(m_found.unknown, {}, &Range::left);
    return std::move(m_found);
  }

 private:
  void divide(Range range, std::vector<Range>& open) {
    const auto spent = [&, before = m_found.pairs.size()] { return m_found.pairs.size() - before; };
    while (range.left < range.leftEnd && range.right < range.rightEnd &&
           m_left[range.left] == m_right[range.right])
      m_found.pairs.push_back({range.left++, range.right++});
    while (range.left < range.leftEnd && range.right < range.rightEnd &&
           m_left[range.leftEnd - 1] == m_right[range.rightEnd - 1])
      m_found.pairs.push_back({--range.leftEnd, --range.rightEnd});
    if (range.left == range.leftEnd || range.right == range.rightEnd) return;
    if (!m_effort.spend(spent() + (range.leftEnd - range.left) + (range.rightEnd - range.right)))
      return m_found.unknown.push_back(range);
    const std::vector<Pair> anchors = uniqueInOrder(range);
    if (anchors.empty()) return shortest(range);
    Range before = range;
    for (const Pair& anchor : anchors) {
      m_found.pairs.push_back(anchor);
      before.leftEnd = anchor.left;
      before.rightEnd = anchor.right;
      open.push_back(before);
      before.left = anchor.left + 1;
      before.right = anchor.right + 1;
    }
    before.leftEnd = range.leftEnd;
    before.rightEnd = range.rightEnd;
    open.push_back(before);
  }

  // Keys that are there once on either side; of these, as many as possible in the same order on both.
  std::vector<Pair> uniqueInOrder(const Range& range) const {
    struct Times {
      std::uint32_t left = 0, right = 0;
      std::size_t at = 0;  // on the right
    };
    std::unordered_map<std::uint64_t, Times> times;
    for (std::size_t i = range.left; i < range.leftEnd; ++i) ++times[m_left[i]].left;
    for (std::size_t i = range.right; i < range.rightEnd; ++i) {
      const auto found = times.find(m_right[i]);
      if (found == times.end()) continue;
      ++found->second.right;
      found->second.at = i;
    }
    std::vector<Pair> unique;
    for (std::size_t i = range.left; i < range.leftEnd; ++i)
      if (const Times& each = times[m_left[i]]; each.left == 1 && each.right == 1)
        unique.push_back({i, each.at});
    // Longest rising subsequence: of each length, the one that ends lowest.
    std::vector<std::size_t> ends, previous(unique.size());
    for (std::size_t i = 0; i < unique.size(); ++i) {
      const auto place = std::ranges::lower_bound(ends, unique[i].right, {},
                                                  [&unique](std::size_t end) { return unique[end].right; });
      previous[i] = place == ends.begin() ? unique.size() : *(place - 1);
      if (place == ends.end())
        ends.push_back(i);
      else
        *place = i;
    }
    std::vector<Pair> rising;
    for (std::size_t i = ends.empty() ? unique.size() : ends.back(); i < unique.size(); i = previous[i])
      rising.push_back(unique[i]);
    std::ranges::reverse(rising);
    return rising;
  }

  // Myers' greedy search: for each number of edits the furthest points on each diagonal.
  void shortest(const Range& range) {
    const auto n = static_cast<std::ptrdiff_t>(range.leftEnd - range.left);
    const auto m = static_cast<std::ptrdiff_t>(range.rightEnd - range.right);
    const auto leftAt = [&](std::ptrdiff_t x) { return m_left[range.left + static_cast<std::size_t>(x)]; };
    const auto rightAt = [&](std::ptrdiff_t y) { return m_right[range.right + static_cast<std::size_t>(y)]; };
    const std::ptrdiff_t most = std::min(n + m, kMostEdits);
    std::vector<std::ptrdiff_t> furthest(static_cast<std::size_t>(2 * most + 3), 0);
    const auto at = [&](std::ptrdiff_t diagonal) -> std::ptrdiff_t& {
      return furthest[static_cast<std::size_t>(diagonal + most + 1)];
    };
    std::vector<std::vector<std::ptrdiff_t>> trail;  // of each number of edits, diagonals -d to d
    for (std::ptrdiff_t edits = 0; edits <= most; ++edits) {
      std::uint64_t looked = 0;
      for (std::ptrdiff_t k = -edits; k <= edits; k += 2) {
        std::ptrdiff_t x = k == -edits || (k != edits && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
        std::ptrdiff_t y = x - k;
        while (x < n && y < m && y >= 0 && leftAt(x) == rightAt(y)) ++x, ++y, ++looked;
        at(k) = x;
        ++looked;
        if (x >= n && y >= m) {
          trail.push_back(row(furthest, edits, most));
          return walkBack(range, trail, n, m);
        }
      }
      trail.push_back(row(furthest, edits, most));
      if (!m_effort.spend(looked)) break;
    }
    m_found.unknown.push_back(range);
  }

  static std::vector<std::ptrdiff_t> row(const std::vector<std::ptrdiff_t>& furthest, std::ptrdiff_t edits,
                                         std::ptrdiff_t most) {
    return {furthest.begin() + (most + 1 - edits), furthest.begin() + (most + 2 + edits)};
  }

  void walkBack(const Range& range, const std::vector<std::vector<std::ptrdiff_t>>& trail, std::ptrdiff_t x,
                std::ptrdiff_t y) {
    const auto take = [&](std::ptrdiff_t i, std::ptrdiff_t j) {
      m_found.pairs.push_back(
          {range.left + static_cast<std::size_t>(i), range.right + static_cast<std::size_t>(j)});
    };
    for (auto edits = static_cast<std::ptrdiff_t>(trail.size()) - 1; edits > 0; --edits) {
      const auto& before = trail[static_cast<std::size_t>(edits - 1)];
      const auto at = [&](std::ptrdiff_t k) {
        const std::ptrdiff_t place = k + edits - 1;
        return place < 0 || place >= static_cast<std::ptrdiff_t>(before.size())
                   ? std::ptrdiff_t{-1}
                   : before[static_cast<std::size_t>(place)];
      };
      const std::ptrdiff_t k = x - y;
      const std::ptrdiff_t from = k == -edits || (k != edits && at(k - 1) < at(k + 1)) ? k + 1 : k - 1;
      const std::ptrdiff_t fromX = at(from), fromY = fromX - from;
      const std::ptrdiff_t startX = from == k + 1 ? fromX : fromX + 1;
      while (x > startX && y > startX - k) take(--x, --y);
      x = fromX;
      y = fromY;
    }
    while (x > 0 && y > 0) take(--x, --y);
  }

  Keys m_left, m_right;
  Effort& m_effort;
  Found m_found;
};

}  // namespace

Alignment align(Keys left, Keys right, From from, Effort& effort) {
  std::vector<std::uint64_t> turned[2];
  if (from == From::End) {
    turned[0].assign(left.rbegin(), left.rend());
    turned[1].assign(right.rbegin(), right.rend());
  }
  const bool back = from == From::End;
  Aligner::Found found = Aligner(back ? Keys(turned[0]) : left, back ? Keys(turned[1]) : right, effort).run();
  if (back) {
    for (Pair& pair : found.pairs) pair = {left.size() - 1 - pair.left, right.size() - 1 - pair.right};
    for (Aligner::Range& range : found.unknown)
      range = {left.size() - range.leftEnd, left.size() - range.left, right.size() - range.rightEnd,
               right.size() - range.right};
    std::ranges::reverse(found.pairs);
    std::ranges::reverse(found.unknown);
  }
  Alignment result;
  for (const Pair& pair : found.pairs) {
    if (!result.common.empty()) {
      Common& last = result.common.back();
      if (last.left + last.count == pair.left && last.right + last.count == pair.right) {
        ++last.count;
        continue;
      }
    }
    result.common.push_back({pair.left, pair.right, 1});
  }
  // An unknown range lies right before the first that begins behind it.
  result.unknownBefore.assign(result.common.size() + 1, false);
  for (const Aligner::Range& range : found.unknown) {
    const auto behind = std::ranges::partition_point(result.common, [&range](const Common& each) {
      return each.left < range.leftEnd || each.right < range.rightEnd;
    });
    result.unknownBefore[static_cast<std::size_t>(behind - result.common.begin())] = true;
  }
  return result;
}

}  // namespace traceback::model
