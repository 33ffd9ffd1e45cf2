// Which of many numbers, from a place on, is the first that is small enough? In O(log n).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace traceback::model {

class LeastIndex {
 public:
  LeastIndex() = default;
  explicit LeastIndex(std::vector<std::int32_t> values);

  // The first place at or after `from`, or the last one before `end`, whose value is at most `bound`.
  // INT32_MAX stands for "none" and is never found.
  std::optional<std::size_t> firstAtMost(std::size_t from, std::int32_t bound) const;
  std::optional<std::size_t> lastAtMost(std::size_t end, std::int32_t bound) const;
  // Of all values; INT32_MAX if there is none.
  std::int32_t least() const { return m_tree.size() > 1 ? m_tree[1] : INT32_MAX; }

 private:
  std::size_t m_leaves = 0;          // a power of two
  std::vector<std::int32_t> m_tree;  // node n has the least of 2n and 2n+1; leaves from m_leaves on
};

}  // namespace traceback::model
