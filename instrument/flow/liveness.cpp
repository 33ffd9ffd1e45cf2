#include "instrument/flow/liveness.h"

#include <algorithm>
#include <unordered_map>

#include "instrument/parallel.h"

namespace traceback::instrument {
namespace {

using format::BlockEnd;

constexpr FlagSet kAllFollowed = kAllFlags | kXmm15;
// xmm15, for what some caller does behind the function's return: other callers have nothing there.
constexpr FlagSet kXmm15Beyond = 0x80;

struct Live {
  RegisterSet registers = 0;
  FlagSet flags = 0;
  bool operator==(const Live&) const = default;
};

Live before(const Instruction& insn, Live after) {
  after.registers = RegisterSet((after.registers & ~insn.kills) | insn.reads);
  const FlagSet killed =
      (insn.flagsKilled & kXmm15) != 0 ? insn.flagsKilled | kXmm15Beyond : insn.flagsKilled;
  after.flags = FlagSet((after.flags & ~killed) | insn.flagsRead);
  return after;
}

class Liveness {
 public:
  Liveness(Program& program, unsigned threads) : m_program(program), m_threads(threads) {}

  // From "no flag is live anywhere" up to what is consistent: the least such, so whatever the order.
  void run() {
    auto& functions = m_program.functions;
    for (m_changed = true; m_changed;) {
      m_changed = false;
      forEachIndex(functions.size(), m_threads, [&](std::size_t i) {
        if (!functions[i].blocks.empty()) analyse(functions[i]);
      });
      for (Function& f : functions)
        if (!f.blocks.empty()) noteFlags(f);
    }
    for (Function& f : functions) {
      f.keepsCursor = mayKeepCursor(f);
      f.jumpFlags = (atIndirectJump(f) | f.returnFlags) & kAllFlags;
    }
    for (Function& f : functions)
      for (Block& block : f.blocks) block.liveFlags &= kAllFlags;
  }

 private:
  void analyse(Function& f) {
    for (Block& block : f.blocks) {
      block.live = 0;
      block.liveFlags = 0;
    }
    // Backwards over the blocks until nothing changes: a few rounds, as most edges go forward.
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t b = f.blocks.size(); b-- > 0;) {
        Block& block = f.blocks[b];
        Live live = liveOut(f, block);
        for (std::size_t i = block.end; i-- > block.first;) live = before(f.instructions[i], live);
        live.registers |= registerBit(kRsp);
        if (live == Live{block.live, block.liveFlags}) continue;
        block.live = live.registers;
        block.liveFlags = live.flags;
        changed = true;
      }
    }
  }

  void grow(FlagSet& set, FlagSet flags) {
    if ((flags & ~set) == 0) return;
    set |= flags;
    m_changed = true;
  }

  void noteFlags(Function& f) {
    if (f.skip == format::SkipReason::StartupCode) return;
    if (f.entered) grow(m_onIndirectEntry, f.blocks.front().liveFlags & kAllFollowed);
    grow(f.entryFlags, f.blocks.front().liveFlags & kAllFollowed);
    // A block that is also jumped to has its flags from there: calls that never come back stand before such.
    for (const Block& block : f.blocks)
      if ((block.flags & format::kBlockReturnPoint) != 0 && block.predecessors.size() == 1)
        grow(m_onReturn, block.liveFlags & kAllFlags);
    noteXmm15OnReturn(f);
    for (const Block& block : f.blocks)
      if ((block.flags & format::kBlockTableTarget) != 0) grow(f.indirectFlags, block.liveFlags);
    for (const VirtAddr target : f.outsideTargets) {
      const BlockIndex b = f.blockAt(target);
      if (b != kNone) grow(m_interior[target.value], f.blocks[b].liveFlags);
    }
  }

  // What is jumped to may stand behind a call that comes back all the same. Who is called in another module
  // leaves nothing of xmm15. Only whoever is called has to leave it alone, and whom that calls or goes on to.
  void noteXmm15OnReturn(const Function& f) {
    for (std::size_t b = 1; b < f.blocks.size(); ++b) {
      const Block& block = f.blocks[b];
      if ((block.flags & format::kBlockReturnPoint) == 0 || (block.liveFlags & ~kAllFlags) == 0) continue;
      const Instruction& call = f.lastOf(f.blocks[b - 1]);
      if (call.flow == Flow::IndirectCall)
        grow(m_onReturn, block.liveFlags & kXmm15);
      else
        leaveXmm15Alone(call.target);
    }
    if (f.returnFlags == 0) return;
    // What it goes on to returns in its place.
    for (const Block& block : f.blocks) {
      const Instruction& last = f.lastOf(block);
      if (last.target.value != 0 && last.flow != Flow::Call && !f.contains(last.target))
        leaveXmm15Alone(last.target);
    }
    if (f.runsOn()) leaveXmm15Alone(f.end());
    for (const std::uint32_t kin : f.kin) grow(m_program.functions[kin].returnFlags, kXmm15Beyond);
  }

  void leaveXmm15Alone(VirtAddr at) {
    Function* f = m_program.functionAt(at);
    if (f != nullptr && !f->blocks.empty())
      grow(f->returnFlags, kXmm15Beyond);
    else if (m_program.isCode(at) && !isStub(at))
      grow(m_onReturn, kXmm15);  // whom it calls is not known
  }

  bool mayKeepCursor(const Function& f) const {
    const auto isLive = [](const Block& block) { return (block.liveFlags & ~kAllFlags) != 0; };
    return ((m_onReturn | m_onIndirectEntry) & kXmm15) == 0 && !f.blocks.empty() &&
           std::ranges::all_of(f.instructions, &Instruction::leavesXmm15) &&
           std::ranges::none_of(f.blocks, isLive);
  }

  // Live at a place that a direct call or jump leads to.
  FlagSet flagsAt(VirtAddr target) const {
    const Function* f = m_program.functionAt(target);
    if (f != nullptr && f->start == target && !f->blocks.empty()) return f->entryFlags;
    if (f != nullptr && !f->blocks.empty() && std::ranges::binary_search(f->outsideTargets, target)) {
      const auto known = m_interior.find(target.value);
      return known == m_interior.end() ? FlagSet{0} : known->second;
    }
    return isStub(target) ? m_onIndirectEntry : kAllFollowed;
  }

  // A jump through memory and nothing else, as in the procedure linkage table.
  bool isStub(VirtAddr at) const {
    for (int i = 0; i < 2; ++i) {
      std::optional<Instruction> insn;
      for (std::uint64_t size = 15; size > 0 && !insn; --size)
        if (const auto code = m_program.codeAt(at, size); !code.empty()) insn = decode(code, at);
      if (!insn) return false;
      if (insn->flow == Flow::IndirectJump) return insn->ripOffset != 0;
      if (!insn->isEndbr64) return false;
      at = insn->end();
    }
    return false;
  }

  // A call that ends its function is not expected back.
  static FlagSet afterCall(const Function& f, const Block& block) {
    return block.successor[0] == kNone ? FlagSet{0} : f.blocks[block.successor[0]].liveFlags;
  }

  FlagSet atIndirectJump(const Function& f) const {
    FlagSet flags = m_onIndirectEntry | f.indirectFlags;
    for (const std::uint32_t number : f.kin) flags |= m_program.functions[number].indirectFlags;
    return flags;
  }

  Live liveOut(const Function& f, const Block& block) const {
    const Instruction& last = f.lastOf(block);
    // For good: who is there returns in its place.
    const auto goneTo = [&](VirtAddr target) { return FlagSet(flagsAt(target) | f.returnFlags); };
    const auto at = [&](BlockIndex b) {  // or past its end
      return b == kNone ? Live{kAllRegisters, goneTo(f.end())}
                        : Live{f.blocks[b].live, f.blocks[b].liveFlags};
    };
    switch (block.kind) {
      case BlockEnd::FallThrough:
      case BlockEnd::Jump:
        return at(block.successor[0]);
      case BlockEnd::Branch: {
        const Live taken =
            block.successor[0] == kNone ? Live{kAllRegisters, goneTo(last.target)} : at(block.successor[0]);
        const Live next = at(block.successor[1]);
        return {RegisterSet(taken.registers | next.registers), FlagSet(taken.flags | next.flags)};
      }
      case BlockEnd::Call:
        return {kAllRegisters, FlagSet(flagsAt(last.target) | afterCall(f, block))};
      case BlockEnd::IndirectCall:
        return {kAllRegisters, FlagSet(m_onIndirectEntry | afterCall(f, block))};
      case BlockEnd::Multiway:
      case BlockEnd::TailJump:
        return {kAllRegisters,
                last.flow == Flow::Jump ? goneTo(last.target) : FlagSet(atIndirectJump(f) | f.returnFlags)};
      case BlockEnd::Return:
        return {kAllRegisters, FlagSet(m_onReturn | f.returnFlags)};
      case BlockEnd::Trap:
        return {kAllRegisters, last.flagsRead};
      default:
        return {kAllRegisters, kAllFollowed};
    }
  }

  Program& m_program;
  unsigned m_threads;
  std::unordered_map<std::uint64_t, FlagSet> m_interior;  // at places within functions that others jump to
  FlagSet m_onReturn = 0;
  FlagSet m_onIndirectEntry = 0;
  bool m_changed = true;
};

}  // namespace

void findLiveness(Program& program, unsigned threads) { Liveness(program, threads).run(); }

void findCursorKeepers(Program& program) {
  // Whatever may be entered in its middle by code that does not keep it, does not keep it either.
  for (bool changed = true; changed;) {
    changed = false;
    for (const Function& from : program.functions) {
      if (from.keepsCursor) continue;
      const auto enters = [&](Function* to, bool atStart) {
        if (to == nullptr || to == &from || !to->keepsCursor) return;
        if (atStart) {
          to->enteredWithoutCursor = true;
        } else {
          to->keepsCursor = false;
          changed = true;
        }
      };
      const auto leadsTo = [&](VirtAddr target) {
        Function* to = program.functionAt(target);
        enters(to, to != nullptr && to->start == target);
      };
      for (const Instruction& insn : from.instructions)
        if (insn.target.value != 0) leadsTo(insn.target);
      if (from.runsOn()) leadsTo(from.end());
      for (const std::uint32_t kin : from.kin) enters(&program.functions[kin], false);
    }
  }
}

}  // namespace traceback::instrument
