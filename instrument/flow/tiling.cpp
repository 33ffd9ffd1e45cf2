#include "instrument/flow/tiling.h"

#include <algorithm>

#include "runtime/format/record.h"

namespace traceback::instrument {
namespace {

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

constexpr std::uint32_t kNoDag = 0xFFFF'FFFF;

// The DAG that all predecessors of the block are in, or none.
std::uint32_t commonDag(const Function& f, const Block& block) {
  std::uint32_t dag = kNoDag;
  for (const BlockIndex p : block.predecessors) {
    if (dag != kNoDag && f.blocks[p].dag != dag) return kNoDag;
    dag = f.blocks[p].dag;
  }
  return dag;
}

}  // namespace

void tile(Function& f) {
  f.dags.clear();
  for (Block& block : f.blocks) block.dag = kNoDag;
  for (const BlockIndex b : topologicalOrder(f)) {
    Block& block = f.blocks[b];
    if (!block.head) {
      block.dag = commonDag(f, block);
      const bool fits =
          block.dag != kNoDag && (!block.conditional || f.dags[block.dag].bits < format::kMaxPathBits);
      if (!fits) block.head = true;
    }
    if (block.head) {
      block.dag = std::uint32_t(f.dags.size());
      f.dags.emplace_back();
    } else if (block.conditional) {
      block.bit = f.dags[block.dag].bits++;
    }
    f.dags[block.dag].blocks.push_back(b);
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
    for (const BlockIndex b : dag.blocks) f.blocks[b].dag = d;
  }
  return firstFree;
}

}  // namespace traceback::instrument
