#include "instrument/flow/layout.h"

#include <algorithm>
#include <numeric>

namespace traceback::instrument {
namespace {

using format::BlockEnd;

// Chains of blocks that are to stand behind one another. A chain is known by its first block.
class Chains {
 public:
  explicit Chains(std::size_t blocks) : m_next(blocks, kNone), m_first(blocks), m_isBehind(blocks) {
    std::iota(m_first.begin(), m_first.end(), BlockIndex{0});
  }

  // Puts what begins with `to` behind what ends with `from`, if these are so. The entry stays the first.
  void join(BlockIndex from, BlockIndex to) {
    if (to == 0 || m_next[from] != kNone || m_isBehind[to] || firstOf(from) == to) return;
    m_next[from] = to;
    m_isBehind[to] = true;
    m_first[to] = from;
  }
  BlockIndex next(BlockIndex b) const { return m_next[b]; }
  bool isFirst(BlockIndex b) const { return !m_isBehind[b]; }

 private:
  BlockIndex firstOf(BlockIndex b) {
    while (m_first[b] != b) b = m_first[b] = m_first[m_first[b]];
    return b;
  }

  std::vector<BlockIndex> m_next, m_first;
  std::vector<bool> m_isBehind;
};

struct Edge {
  BlockIndex from, to;
  std::uint64_t times;
};

// Where control goes on within the function, the most often used first: as often as the counts of a branch
// say, and at most as often as either block ran.
std::vector<Edge> edgesOf(const Function& f) {
  std::vector<Edge> edges;
  const auto add = [&](BlockIndex from, unsigned edge, std::uint64_t times) {
    const BlockIndex to = f.blocks[from].successor[edge];
    if (to == kNone) return;
    times = std::min({times, f.blocks[from].ran, f.blocks[to].ran});
    if (times != 0) edges.push_back({from, to, times});
  };
  for (BlockIndex b = 0; b < f.blocks.size(); ++b) {
    const Block& block = f.blocks[b];
    switch (block.kind) {
      case BlockEnd::FallThrough:
      case BlockEnd::Jump:
        add(b, 0, block.ran);
        break;
      case BlockEnd::Branch: {
        const std::uint64_t taken =
            block.taken ? std::uint64_t(double(block.ran) * (*block.taken / 100.0)) : block.ran;
        add(b, 1, block.taken ? block.ran - taken : block.ran);
        add(b, 0, taken);
        break;
      }
      default:
        break;
    }
  }
  std::ranges::stable_sort(edges, std::ranges::greater{}, &Edge::times);
  return edges;
}

}  // namespace

std::vector<BlockIndex> layOut(const Function& f) {
  std::vector<BlockIndex> order(f.blocks.size());
  std::iota(order.begin(), order.end(), BlockIndex{0});
  if (!f.ran()) return order;
  Chains chains(f.blocks.size());
  for (BlockIndex b = 0; b + 1 < f.blocks.size(); ++b) {
    const BlockEnd kind = f.blocks[b].kind;
    if (kind == BlockEnd::Call || kind == BlockEnd::IndirectCall) chains.join(b, b + 1);
  }
  for (const Edge& edge : edgesOf(f)) chains.join(edge.from, edge.to);
  for (BlockIndex b = 0; b + 1 < f.blocks.size(); ++b)
    if (f.blocks[b].ran == 0 && f.blocks[b + 1].ran == 0 && goesOn(f.lastOf(f.blocks[b]).flow))
      chains.join(b, b + 1);
  std::vector<BlockIndex> hot, cold;
  for (BlockIndex b = 0; b < f.blocks.size(); ++b) {
    if (!chains.isFirst(b)) continue;
    bool ran = b == 0;
    for (BlockIndex at = b; at != kNone; at = chains.next(at)) ran = ran || f.blocks[at].ran != 0;
    for (BlockIndex at = b; at != kNone; at = chains.next(at)) (ran ? hot : cold).push_back(at);
  }
  hot.insert(hot.end(), cold.begin(), cold.end());
  return hot;
}

}  // namespace traceback::instrument
