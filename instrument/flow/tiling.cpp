#include "instrument/flow/tiling.h"

#include <algorithm>

#include "instrument/codes.h"
#include "instrument/flow/bad_ends.h"
#include "instrument/rounding.h"
#include "runtime/format/record.h"

namespace traceback::instrument {
namespace {

using format::BlockEnd;

// Blocks so that each comes after those from which a record goes on to it.
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
    if (!f.blocks[root].head || seen[root] != 0) continue;
    seen[root] = 1;
    stack.push_back({BlockIndex(root), 0});
    while (!stack.empty()) {
      Visit& top = stack.back();
      if (top.next == 2) {
        postOrder.push_back(top.block);
        stack.pop_back();
        continue;
      }
      const BlockIndex to = f.onward(f.blocks[top.block], top.next++);
      if (to == kNone || seen[to]) continue;
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
  explicit Likelihoods(const Function& f) : m_function(f), m_badEnds(f) {}

  // In hundredths, that the branch is taken.
  unsigned taken(const Block& block) const {
    if (block.taken) return *block.taken;
    constexpr unsigned kHardlyEver = 3, kOfLoops = 88, kForward = 35, kWhereLeastIsWritten = 50;
    if (block.cold) return kWhereLeastIsWritten;
    const bool takenCold = m_badEnds.contains(block.successor[0]),
               nextCold = m_badEnds.contains(block.successor[1]);
    if (takenCold != nextCold) return takenCold ? kHardlyEver : 100 - kHardlyEver;
    return block.successor[0] != kNone && m_function.blocks[block.successor[0]].first < block.end ? kOfLoops
                                                                                                  : kForward;
  }

 private:
  const Function& m_function;
  BadEnds m_badEnds;
};

// Whether the path's next step has to be told from the other.
bool needsBit(const Function& f, const Block& block) {
  return block.kind == BlockEnd::Branch && block.successor[0] != block.successor[1] &&
         (f.onward(block, 0) != kNone || f.onward(block, 1) != kNone);
}

// Whether all that comes there comes by that edge.
bool isOnlyWayTo(const Function& f, const Block& block, unsigned edge) {
  const BlockIndex to = f.onward(block, edge);
  return to != kNone && !f.blocks[to].head && f.blocks[to].predecessors.size() == 1;
}

bool isLedToByBranch(const Function& f, BlockIndex b) {
  return std::ranges::any_of(f.blocks[b].predecessors, [&](BlockIndex p) {
    const Block& from = f.blocks[p];
    return needsBit(f, from) && (f.onward(from, 0) == b || f.onward(from, 1) == b);
  });
}

// Of a probe on the edge, in about a tenth of an instruction.
unsigned costOfEdge(const Function& f, const Block& block, unsigned edge) {
  constexpr unsigned kProbe = 10, kJump = 8, kSpilled = 90;
  if (block.successor[edge] == kNone) return kSpilled;
  return kProbe + (edge == 1 || isOnlyWayTo(f, block, edge) ? 0 : kJump);
}

// How many branches with a bit may be in front of each block in one record.
std::vector<std::uint8_t> bitsInFront(const Function& f) {
  std::vector<std::uint8_t> out(f.blocks.size());
  for (const BlockIndex b : f.order) {
    const Block& block = f.blocks[b];
    const auto behind = std::uint8_t(out[b] + (block.bit == format::kNoBit ? 0 : 1));
    for (unsigned edge = 0; edge < 2; ++edge)
      if (const BlockIndex to = f.onward(block, edge); to != kNone) out[to] = std::max(out[to], behind);
  }
  return out;
}

// Where the records may go on in the functions that are called: as far as there is room, for no head is put
// in front for it, and where that is worth its codes.
void passEntries(Function& f, unsigned mostBits, std::span<const Function> functions) {
  constexpr unsigned kMost = 6, kRoom = 4;  // of short paths; what longer ones keep for the caller
  const unsigned most = std::max(kMost + kRoom, mostBits) - kRoom;
  const std::vector<std::uint8_t> inFront = bitsInFront(f);
  for (const BlockIndex b : f.order) {
    Block& block = f.blocks[b];
    if (!block.mayPass) continue;
    const unsigned bits = functions[block.callee].entryBits;
    block.passesEntry = bits <= most && inFront[b] + bits + (block.bySlot ? 1 : 0) <= mostBits;
  }
}

}  // namespace

bool bitIsSetInTarget(const Function& f, const Block& block) {
  return block.bit != format::kNoBit && block.bitEdge == 0 && isOnlyWayTo(f, block, 0) &&
         block.successor[1] != block.successor[0];
}

void tile(Function& f, unsigned mostBits, std::span<const Function> functions) {
  for (Block& block : f.blocks) {
    block.passesEntry = false;
    if (block.crowded == Block::Crowded::No) continue;
    block.head = block.open = block.crowded == Block::Crowded::OpenHead;
    block.crowded = Block::Crowded::No;
  }
  f.order = topologicalOrder(f);
  // How many branches with a bit there may be from the block's start on: bits are counted from a DAG's end,
  // so that a block that is in several has the same in all, and none has more than it needs.
  std::vector<std::uint8_t> height(f.blocks.size());
  const auto heightBehind = [&](const Block& block) {
    std::uint8_t most = block.passesEntry ? functions[block.callee].entryBits : 0;
    for (unsigned edge = 0; edge < 2; ++edge)
      if (const BlockIndex to = f.onward(block, edge); to != kNone) most = std::max(most, height[to]);
    return most;
  };
  for (std::size_t i = f.order.size(); i-- > 0;) {
    Block& block = f.blocks[f.order[i]];
    block.bit = format::kNoBit;
    std::uint8_t above = heightBehind(block);
    if (needsBit(f, block)) block.bit = above++;
    height[f.order[i]] = above;
    // No branch in front finds a bit any more.
    if (above < mostBits || !isLedToByBranch(f, f.order[i])) continue;
    block.crowded = block.head ? Block::Crowded::OpenHead : Block::Crowded::NoHead;
    block.head = true;
    block.open = false;
  }
  passEntries(f, mostBits, functions);
  for (std::size_t i = f.order.size(); i-- > 0;) {
    Block& block = f.blocks[f.order[i]];
    std::uint8_t above = heightBehind(block);
    if (block.bit != format::kNoBit || (block.passesEntry && block.bySlot)) block.bit = above++;
    height[f.order[i]] = above;
  }
  f.entryBits = height.front();
  // Not before: a block that became a head changes what branches in front of it need.
  const Likelihoods likelihoods(f);
  f.dags.clear();
  for (const BlockIndex b : f.order) {
    Block& block = f.blocks[b];
    if (block.bit != format::kNoBit && block.kind == BlockEnd::Branch) {
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
    dag.code = roundedUp(firstFree, span);
    firstFree = dag.code + span;
    f.blocks[dag.head].dag = d;
  }
  return firstFree;
}

}  // namespace traceback::instrument
