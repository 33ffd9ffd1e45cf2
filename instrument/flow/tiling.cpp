#include "instrument/flow/tiling.h"

#include <algorithm>

#include "runtime/format/record.h"

namespace traceback::instrument {
namespace {

using format::BlockEnd;

// Blocks so that each comes after its predecessors, edges to heads left out (there is no cycle then).
std::vector<BlockIndex> topologicalOrder(const Function& f) {
  std::vector<BlockIndex> postOrder;
  postOrder.reserve(f.blocks.size());
  std::vector<std::uint8_t> seen(f.blocks.size());
  struct Visit {
    BlockIndex block;
    unsigned next;
  };
  std::vector<Visit> stack;
  for (std::size_t root = f.blocks.size(); root-- > 0;) {
    if (!f.blocks[root].head) continue;
    seen[root] = 1;
    stack.push_back({BlockIndex(root), 0});
    while (!stack.empty()) {
      Visit& top = stack.back();
      if (top.next == 2) {
        postOrder.push_back(top.block);
        stack.pop_back();
        continue;
      }
      const BlockIndex to = f.blocks[top.block].successor[top.next++];
      if (to == kNone || seen[to] || f.blocks[to].head) continue;
      seen[to] = 1;
      stack.push_back({to, 0});
    }
  }
  std::ranges::reverse(postOrder);
  return postOrder;
}

// Edges that are seldom taken, by what is known without running: whether control comes from there at all, and
// where compilers put what they think unlikely.
class Likelihoods {
 public:
  // Twice, for most edges lead forward, and few chains of those that do not matter.
  explicit Likelihoods(const Function& f) : m_function(f), m_cold(f.blocks.size()) {
    for (int round = 0; round < 2; ++round)
      for (std::size_t b = f.blocks.size(); b-- > 0;) m_cold[b] = endsBadly(f.blocks[b]);
  }

  // In hundredths, that the branch is taken.
  unsigned taken(const Block& block) const {
    constexpr unsigned kHardlyEver = 3, kOfLoops = 88, kForward = 35;
    const bool takenCold = isCold(block.successor[0]), nextCold = isCold(block.successor[1]);
    if (takenCold != nextCold) return takenCold ? kHardlyEver : 100 - kHardlyEver;
    return block.successor[0] != kNone && m_function.blocks[block.successor[0]].first < block.end ? kOfLoops
                                                                                                  : kForward;
  }

 private:
  // Whether it can only end in a trap, or in a call that does not come back.
  bool endsBadly(const Block& block) const {
    switch (block.kind) {
      case BlockEnd::Trap:
        return true;
      case BlockEnd::FallThrough:
      case BlockEnd::Jump:
        return block.successor[0] != kNone && isCold(block.successor[0]);
      case BlockEnd::Call:
        return isCold(block.successor[0]);
      case BlockEnd::Branch:
        return isCold(block.successor[0]) && isCold(block.successor[1]);
      default:
        return false;
    }
  }

  // A part that was moved away is one that hardly ever runs.
  bool isCold(BlockIndex b) const { return b == kNone || m_cold[b] != 0; }

  const Function& m_function;
  std::vector<std::uint8_t> m_cold;
};

bool isInside(const Function& f, BlockIndex b) { return b != kNone && !f.blocks[b].head; }

// Whether the path's next step has to be told from the other.
bool needsBit(const Function& f, const Block& block) {
  return block.kind == BlockEnd::Branch && block.successor[0] != block.successor[1] &&
         (isInside(f, block.successor[0]) || isInside(f, block.successor[1]));
}

// Of a probe on the edge, in about a tenth of an instruction.
unsigned costOfEdge(const Function& f, const Block& block, unsigned edge) {
  constexpr unsigned kProbe = 10, kJump = 8, kSpilled = 90;
  const BlockIndex to = block.successor[edge];
  if (to == kNone) return kSpilled;
  const bool inTarget = isInside(f, to) && f.blocks[to].predecessors.size() == 1;
  return kProbe + (edge == 1 || inTarget ? 0 : kJump);
}

}  // namespace

bool bitIsSetInTarget(const Function& f, const Block& block) {
  const BlockIndex to = block.successor[0];
  return block.bit != format::kNoBit && block.bitEdge == 0 && isInside(f, to) &&
         f.blocks[to].predecessors.size() == 1 && block.successor[1] != to;
}

void tile(Function& f, unsigned mostBits) {
  f.order = topologicalOrder(f);
  // How many branches with a bit there may be from the block's start on: bits are counted from a DAG's end,
  // so that a block that is in several has the same in all, and none has more than it needs.
  std::vector<std::uint8_t> height(f.blocks.size());
  const auto heightOf = [&](BlockIndex b) { return isInside(f, b) ? height[b] : std::uint8_t{0}; };
  for (std::size_t i = f.order.size(); i-- > 0;) {
    Block& block = f.blocks[f.order[i]];
    if (block.kind == BlockEnd::Branch)
      for (const BlockIndex to : block.successor)
        if (needsBit(f, block) && isInside(f, to) && height[to] >= mostBits) f.blocks[to].head = true;
    block.bit = format::kNoBit;
    std::uint8_t above = 0;
    if (block.kind == BlockEnd::Branch || block.kind == BlockEnd::FallThrough || block.kind == BlockEnd::Jump)
      above = std::max(heightOf(block.successor[0]), heightOf(block.successor[1]));
    if (needsBit(f, block)) block.bit = above++;
    height[f.order[i]] = above;
  }
  // Not before: a block that became a head changes what branches in front of it need.
  const Likelihoods likelihoods(f);
  f.dags.clear();
  for (const BlockIndex b : f.order) {
    Block& block = f.blocks[b];
    if (block.bit != format::kNoBit) {
      const unsigned taken = likelihoods.taken(block);
      block.bitEdge = taken * costOfEdge(f, block, 0) < (100 - taken) * costOfEdge(f, block, 1)
                          ? std::uint8_t{0}
                          : std::uint8_t{1};
    }
    if (!block.head) continue;
    block.dag = std::uint32_t(f.dags.size());
    f.dags.push_back({.head = b, .bits = height[b], .code = 0});
  }
}

std::uint32_t assignCodes(Function& f, std::uint32_t firstFree) {
  // The widest first: the others then need no padding for their alignment.
  std::ranges::stable_sort(f.dags, std::ranges::greater{}, &Dag::bits);
  for (std::uint32_t d = 0; d < f.dags.size(); ++d) {
    Dag& dag = f.dags[d];
    const std::uint32_t span = 1u << dag.bits;
    dag.code = (firstFree + span - 1) & ~(span - 1);
    firstFree = dag.code + span;
    f.blocks[dag.head].dag = d;
  }
  return firstFree;
}

}  // namespace traceback::instrument
