#include "model/least_index.h"

#include <algorithm>
#include <bit>

namespace traceback::model {

LeastIndex::LeastIndex(std::vector<std::int32_t> values)
    : m_leaves(std::bit_ceil(std::max<std::size_t>(values.size(), 1))), m_tree(2 * m_leaves, INT32_MAX) {
  std::ranges::copy(values, m_tree.begin() + static_cast<std::ptrdiff_t>(m_leaves));
  for (std::size_t node = m_leaves; node-- > 1;)
    m_tree[node] = std::min(m_tree[2 * node], m_tree[2 * node + 1]);
}

std::optional<std::size_t> LeastIndex::firstAtMost(std::size_t from, std::int32_t bound) const {
  if (from >= m_leaves) return {};
  bound = std::min(bound, INT32_MAX - 1);
  std::size_t node = from + m_leaves;
  // Up until a subtree that lies right of all looked at holds one, then down to its first.
  while (m_tree[node] > bound) {
    while (node & 1) node >>= 1;  // a right child: what follows is right of the parent
    if (node == 0) return {};
    ++node;
  }
  while (node < m_leaves) {
    node *= 2;
    if (m_tree[node] > bound) ++node;
  }
  return node - m_leaves;
}

std::optional<std::size_t> LeastIndex::lastAtMost(std::size_t end, std::int32_t bound) const {
  if (end == 0 || m_leaves == 0) return {};
  bound = std::min(bound, INT32_MAX - 1);
  std::size_t node = std::min(end, m_leaves) - 1 + m_leaves;
  while (m_tree[node] > bound) {
    while (!(node & 1)) node >>= 1;
    if (node == 1) return {};
    --node;
  }
  while (node < m_leaves) {
    node = 2 * node + 1;
    if (m_tree[node] > bound) --node;
  }
  return node - m_leaves;
}

}  // namespace traceback::model
