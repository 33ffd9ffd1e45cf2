#include "instrument/flow/flow_graph.h"

#include <algorithm>
#include <span>

namespace traceback::instrument {
namespace {

using format::BlockEnd;

constexpr std::uint8_t kEntered = 1, kReturnedTo = 2, kClosed = 4;

// What makes an instruction the first of a block, and what that says about the block.
struct Leaders {
  std::vector<std::uint8_t> leader;   // by instruction
  std::vector<std::uint16_t> flags;   // BlockFlag
  std::vector<std::uint8_t>
      forced;   // must be a head: kEntered, kReturnedTo; for all that lead there: kClosed
};

void markAddress(const Function& f, Leaders& out, VirtAddr address, std::uint16_t flags,
                 std::uint8_t forced) {
  const auto i = f.instructionAt(address);
  if (i < 0) return;
  out.leader[std::size_t(i)] = 1;
  out.flags[std::size_t(i)] |= flags;
  out.forced[std::size_t(i)] |= forced;
}

Leaders findLeaders(const Function& f) {
  const std::size_t n = f.instructions.size();
  Leaders out{std::vector<std::uint8_t>(n), std::vector<std::uint16_t>(n), std::vector<std::uint8_t>(n)};
  out.leader[0] = 1;
  out.forced[0] = kEntered | kClosed;
  out.flags[0] = format::kBlockEntry;
  for (std::size_t i = 0; i < n; ++i) {
    const Instruction& insn = f.instructions[i];
    if (insn.flow == Flow::Jump || insn.flow == Flow::Branch || insn.flow == Flow::ShortBranch)
      markAddress(f, out, insn.target, 0, 0);
    if (!insn.endsBlock() || i + 1 == n) continue;
    out.leader[i + 1] = 1;
    if (isCall(insn.flow)) {
      out.flags[i + 1] |= format::kBlockReturnPoint;
      out.forced[i + 1] |= kReturnedTo;
    }
  }
  for (const VirtAddr pad : f.landingPads) markAddress(f, out, pad, format::kBlockLandingPad, kEntered);
  for (const VirtAddr target : f.outsideTargets) markAddress(f, out, target, 0, kEntered);
  // Hot, and mostly fallen into where they are reached otherwise: nothing is gained by passing their probes.
  for (const VirtAddr target : f.indirectTargets)
    markAddress(f, out, target, format::kBlockTableTarget, kEntered | kClosed);
  return out;
}

struct Successors {
  BlockEnd kind;
  BlockIndex taken = kNone, next = kNone;
};

Successors successorsOf(const Function& f, const Instruction& last, BlockIndex following,
                        const std::vector<BlockIndex>& blockAt) {
  const auto at = [&](VirtAddr address) {
    const auto i = f.instructionAt(address);
    return i < 0 ? kNone : blockAt[std::size_t(i)];
  };
  switch (last.flow) {
    case Flow::Next:
      return {BlockEnd::FallThrough, following};
    case Flow::Jump: {
      const BlockIndex to = at(last.target);
      return to == kNone ? Successors{BlockEnd::TailJump} : Successors{BlockEnd::Jump, to};
    }
    case Flow::Branch:
    case Flow::ShortBranch:
      return {BlockEnd::Branch, at(last.target), following};
    case Flow::Call:
      return {BlockEnd::Call, following};
    case Flow::IndirectCall:
      return {BlockEnd::IndirectCall, following};
    case Flow::IndirectJump:
      return {f.indirectTargets.empty() ? BlockEnd::TailJump : BlockEnd::Multiway};
    case Flow::Return:
      return {BlockEnd::Return};
    case Flow::Stop:
      return {BlockEnd::Trap};
  }
  return {BlockEnd::Trap};
}

// From where a copy may be entered on. What is not reached then (padding, for the most part) is never
// executed in the copy: whatever comes there in ways that we do not know of comes to the original.
void findReached(Function& f) {
  std::vector<BlockIndex> open;
  const auto reach = [&](BlockIndex b) {
    if (b == kNone || f.blocks[b].reached) return;
    f.blocks[b].reached = true;
    open.push_back(b);
  };
  for (BlockIndex b = 0; b < f.blocks.size(); ++b)
    if (f.blocks[b].reached) open.push_back(b);
  while (!open.empty()) {
    const Block& block = f.blocks[open.back()];
    const BlockIndex following = open.back() + 1;
    open.pop_back();
    for (const BlockIndex to : block.successor) reach(to);
    // A handler of its signal may go on behind an int3.
    if (block.kind == BlockEnd::Trap && f.lastOf(block).length == 1 && following < f.blocks.size()) {
      f.blocks[following].head = true;
      f.blocks[following].open = false;
      reach(following);
    }
  }
  for (Block& block : f.blocks) block.head = block.head && block.reached;
}

void link(Function& f) {
  for (BlockIndex b = 0; b < f.blocks.size(); ++b) {
    if (!f.blocks[b].reached) continue;
    for (const BlockIndex to : f.blocks[b].successor) {
      if (to == kNone) continue;
      auto& predecessors = f.blocks[to].predecessors;
      if (predecessors.empty() || predecessors.back() != b) predecessors.push_back(b);
    }
  }
}

// Makes targets of retreating edges heads, so that what is left of edges on which a record goes on has no
// cycle. What a head cuts already, behind a call for example, needs no other.
void cutLoops(Function& f, bool openHeads) {
  enum : std::uint8_t { White, Grey, Black };
  std::vector<std::uint8_t> colour(f.blocks.size(), White);
  struct Visit {
    BlockIndex block;
    unsigned next;
  };
  std::vector<Visit> stack;
  for (BlockIndex root = 0; root < f.blocks.size(); ++root) {
    if (colour[root] != White || !f.blocks[root].reached) continue;
    colour[root] = Grey;
    stack.push_back({root, 0});
    while (!stack.empty()) {
      Visit& top = stack.back();
      if (top.next == 2) {
        colour[top.block] = Black;
        stack.pop_back();
        continue;
      }
      Block& block = f.blocks[top.block];
      const unsigned edge = top.next++;
      const BlockIndex to = block.successor[edge];
      if (to == kNone || block.kind == BlockEnd::Call || block.kind == BlockEnd::IndirectCall) continue;
      const bool goesOn = f.onward(block, edge) != kNone;
      if (colour[to] == Grey) {
        f.blocks[to].flags |= format::kBlockLoopHead;
        if (!goesOn) continue;
        block.leadsBack[edge] = true;
        if (f.blocks[to].head) continue;
        f.blocks[to].head = true;
        f.blocks[to].open = openHeads;
      } else if (goesOn && colour[to] == White) {
        colour[to] = Grey;
        stack.push_back({to, 0});
      }
    }
  }
}

}  // namespace

bool Function::ran() const {
  return std::ranges::any_of(blocks, [](const Block& block) { return block.ran != 0; });
}

// A call in front, behind an endbr64 perhaps, is the profiler's, before there is a frame.
bool Function::callsOthers() const {
  constexpr std::ptrdiff_t kInFront = 2;
  const auto n = std::ssize(instructions);
  return std::ranges::any_of(std::span(instructions).subspan(std::size_t(std::min(n, kInFront))),
                             [](const Instruction& insn) { return isCall(insn.flow); });
}

bool Function::isCold() const { return std::ranges::all_of(blocks, &Block::cold); }

bool Function::runsOn() const {
  return !instructions.empty() && goesOn(instructions.back().flow) && !isCall(instructions.back().flow);
}

std::ptrdiff_t Function::instructionAt(VirtAddr address) const {
  const auto it = std::ranges::lower_bound(instructions, address, {}, &Instruction::address);
  return it != instructions.end() && it->address == address ? it - instructions.begin() : -1;
}

BlockIndex Function::blockAt(VirtAddr address) const {
  if (!contains(address)) return kNone;
  const auto offset = std::uint32_t(address.value - start.value);
  const auto it = std::ranges::lower_bound(blocks, offset, {}, &Block::offset);
  return it != blocks.end() && it->offset == offset ? BlockIndex(it - blocks.begin()) : kNone;
}

BlockIndex Function::onward(const Block& block, unsigned edge) const {
  using format::BlockEnd;
  if (block.kind != BlockEnd::FallThrough && block.kind != BlockEnd::Jump && block.kind != BlockEnd::Branch)
    return kNone;
  const BlockIndex to = block.successor[edge];
  if (to == kNone || block.leadsBack[edge] || (blocks[to].head && !blocks[to].open)) return kNone;
  return to;
}

bool Function::passesHead(const Block& block, unsigned edge) const {
  const BlockIndex to = onward(block, edge);
  return to != kNone && blocks[to].head;
}

void buildFlowGraph(Function& f, bool openHeads) {
  const Leaders leaders = findLeaders(f);
  const std::size_t n = f.instructions.size();
  f.blocks.clear();
  f.blocks.reserve(std::size_t(std::ranges::count_if(leaders.leader, [](auto leads) { return leads != 0; })));
  std::vector<BlockIndex> blockAt(n, kNone);
  for (std::size_t i = 0; i < n; ++i) {
    if (leaders.leader[i]) {
      if (!f.blocks.empty()) f.blocks.back().end = std::uint32_t(i);
      Block block;
      block.first = std::uint32_t(i);
      block.offset = std::uint32_t(f.instructions[i].address.value - f.start.value);
      block.flags = leaders.flags[i];
      block.head = leaders.forced[i] != 0;
      block.open = openHeads && block.head && (leaders.forced[i] & kClosed) == 0;
      block.reached = (leaders.forced[i] & kEntered) != 0;
      f.blocks.push_back(std::move(block));
    }
    blockAt[i] = BlockIndex(f.blocks.size() - 1);
  }
  f.blocks.back().end = std::uint32_t(n);

  for (BlockIndex b = 0; b < f.blocks.size(); ++b) {
    const BlockIndex following = b + 1 < f.blocks.size() ? b + 1 : kNone;
    const Successors to = successorsOf(f, f.lastOf(f.blocks[b]), following, blockAt);
    f.blocks[b].kind = to.kind;
    f.blocks[b].successor[0] = to.taken;
    f.blocks[b].successor[1] = to.next;
    if (to.kind == BlockEnd::Branch && to.taken == kNone) f.blocks[b].flags |= format::kBlockTailBranch;
  }
  findReached(f);
  link(f);
  cutLoops(f, openHeads);
}

}  // namespace traceback::instrument
