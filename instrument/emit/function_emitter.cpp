#include "instrument/emit/function_emitter.h"

#include <algorithm>
#include <cstring>

#include "instrument/analysis/stubs.h"
#include "instrument/emit/bit_routines.h"
#include "instrument/emit/copied_instructions.h"
#include "instrument/emit/gate.h"
#include "instrument/emit/head_forms.h"
#include "instrument/emit/load_routines.h"
#include "instrument/emit/probe_parts.h"
#include "instrument/emit/record_routines.h"
#include "instrument/flow/layout.h"
#include "instrument/flow/tiling.h"
#include "runtime/format/module.h"
#include "runtime/format/record.h"

namespace traceback::instrument {
namespace {

class Emitter {
 public:
  Emitter(const Program& program, const Function& function, const EmitOptions& options, FunctionCode& out)
      : m_program(program),
        m_function(function),
        m_options(options),
        m_forms(function, options),
        m_targets(program, function),
        m_out(out),
        m_code(options.threadSlot),
        m_instructions(m_code, program, function, m_targets, options.calledSlots),
        m_tables(m_code, program, function, m_targets, options.jumpTables) {}

  void run(const std::optional<EntryWindow>& window) {
    m_out.function = &m_function;
    m_out.window = window;
    m_heads.resize(m_function.dags.size());
    for (const Block& block : m_function.blocks) {
      m_blocks.push_back(m_code.newLabel());
      m_behindHeads.push_back(m_forms.hasProbe(block) ? m_code.newLabel() : m_blocks.back());
    }
    m_displaced = m_code.newLabel();
    if (window) emitGate();
    if (m_forms.keepsCursor() && (window || m_function.enteredWithoutCursor)) {
      if (m_forms.sharesEntry(m_function.blocks.front()))
        m_unkeptEntry = m_blocks.front();
      else
        emitUnkeptEntry();
    }
    const std::vector<BlockIndex> order = layOut(m_function);
    for (std::size_t i = 0; i < order.size(); ++i) {
      m_below = i + 1 < order.size() ? order[i + 1] : kNone;
      emitBlock(order[i]);
      goOn(order[i]);
      m_above = order[i];
    }
    emitTakenEdges();
    emitElsewhere();
    emitHeadsApart();
    m_tables.emitSlowWays([this](const Instruction& insn) {
      setOrigin(insn, false);
      m_instructions.emit(insn);
    });
    m_tables.emitStubs(m_blocks);
    emitWraps();
    if (window && !m_options.alwaysBound) emitDisplaced(*window);
    m_code.settle();
    finish();
  }

 private:
  Label boundHere() {
    const Label label = m_code.newLabel();
    m_code.bind(label);
    return label;
  }

  void setOrigin(const Instruction& insn, bool fixed) {
    m_code.setOrigin({insn.address, insn.length, fixed});
  }

  void emitGate() {
    setOrigin(m_function.instructions.front(), true);
    m_gate = boundHere();
    if (m_options.alwaysBound) return;
    emitGateTest(m_code, {m_options.moduleSlots.value + offsetof(format::ModuleSlots, bound)},
                 m_function.blocks.front().liveFlags == 0, m_displaced);
  }

  // Whoever comes by the gate, and copies that do not keep the cursor.
  void emitUnkeptEntry() {
    setOrigin(m_function.instructions.front(), true);
    m_unkeptEntry = boundHere();
    const Block& front = m_function.blocks.front();
    if (m_forms.comparesAtEntry()) m_entryLoad = emitCursorComparison(m_code, freeAt(front));
    if (!m_entryLoad) emitCursorLoad(m_code, freeAt(front));
  }

  void emitBlock(BlockIndex b) {
    const Block& block = m_function.blocks[b];
    if (isHeadApart(b)) {
      m_code.bind(m_behindHeads[b]);
    } else {
      if (isFallenInto(b)) passHead(b);
      setOrigin(m_function.instructions[block.first], true);
      m_code.bind(m_blocks[b]);
      if (m_forms.hasProbe(block)) {
        emitHead(block);
        m_code.bind(m_behindHeads[b]);
      } else if (const Block* branch = branchThatSetsItsBitIn(b)) {
        emitBit(*branch);
      }
    }
    m_inverted = isInverted(b);
    const auto tableJump = m_tables.jumpOf(block);
    for (std::uint32_t i = block.first; i < block.end; ++i) {
      if (tableJump && i == tableJump->load) {
        m_tables.emitLoad(*tableJump, m_instructions.bytesOf(m_function.instructions[i]));
        continue;
      }
      setOrigin(m_function.instructions[i], false);
      if (tableJump && i == tableJump->jump)
        m_instructions.emitExactly(m_function.instructions[i]);
      else if (i + 1 == block.end)
        emitLast(b);
      else
        m_instructions.emit(m_function.instructions[i]);
    }
    if (setsBit(block) && block.bitEdge == (m_inverted ? 0 : 1) && !bitIsSetInTarget(m_function, block))
      emitBit(block);
  }

  void emitLast(BlockIndex b) {
    const Block& block = m_function.blocks[b];
    if (comparesSlot(block)) return emitBySlot(b);
    m_instructions.emit(m_function.lastOf(block), {.edge = edgeOf(b, m_inverted ? 1 : 0),
                                                   .inverted = m_inverted,
                                                   .passesEntry = block.passesEntry && m_options.probes});
  }

  // Whether its branch leads where it did not, for what it did lead to comes right behind.
  bool isInverted(BlockIndex b) const {
    const Block& block = m_function.blocks[b];
    return m_function.lastOf(block).flow == Flow::Branch && b + 1 < m_function.blocks.size() &&
           m_below != b + 1 && m_below != kNone && block.successor[0] == m_below;
  }
  // Where the original goes on with what stands elsewhere here.
  void goOn(BlockIndex b) {
    const Block& block = m_function.blocks[b];
    if (m_inverted || !goesOn(m_function.lastOf(block).flow)) return;
    const BlockIndex next = b + 1;
    if (next == m_function.blocks.size()) return emitFallOff();
    if (next == m_below) return;
    const unsigned edge = block.kind == format::BlockEnd::Branch ? 1 : 0;
    if (block.reached && passes(block, edge, next)) return passHead(next);
    setOrigin(m_function.instructions[block.end], true);
    m_code.jump(m_blocks[next]);
  }

  // Whether the record goes on from the block in front, whose code ends right here.
  bool isFallenInto(BlockIndex b) const {
    if (m_above == kNone || (m_above + 1 != b && !m_inverted)) return false;
    const Block& above = m_function.blocks[m_above];
    return above.reached &&
           ((above.kind == format::BlockEnd::FallThrough && passes(above, 0, b)) ||
            (above.kind == format::BlockEnd::Branch && passes(above, m_inverted ? 0 : 1, b)));
  }
  bool passes(const Block& from, unsigned edge, BlockIndex to) const {
    return m_options.probes && from.successor[edge] == to && m_function.passesHead(from, edge);
  }

  // A jump that stands for the block's first instruction just as that itself does: whoever is interrupted
  // here has come to the block without its probe.
  void passHead(BlockIndex b) {
    setOrigin(m_function.instructions[m_function.blocks[b].first], false);
    m_exact.push_back(boundHere());
    m_code.jump(m_behindHeads[b]);
  }

  // Heads that are only seldom come to stand behind all blocks: of loops, and behind calls, they stand where
  // most of those that need them come from.
  bool isHeadApart(BlockIndex b) const {
    const Block& block = m_function.blocks[b];
    if (!m_forms.hasProbe(block) || !block.open) return false;
    constexpr auto kInPlace = format::kBlockEntry | format::kBlockReturnPoint | format::kBlockLoopHead;
    return (block.flags & kInPlace) == 0 && std::ranges::any_of(block.predecessors, [&](BlockIndex p) {
             const Block& from = m_function.blocks[p];
             return passes(from, 0, b) || passes(from, 1, b);
           });
  }

  void emitHeadsApart() {
    for (BlockIndex b = 0; b < m_function.blocks.size(); ++b) {
      if (!isHeadApart(b)) continue;
      setOrigin(m_function.instructions[m_function.blocks[b].first], true);
      m_code.bind(m_blocks[b]);
      emitHead(m_function.blocks[b]);
      passHead(b);
    }
  }

  void emitHead(const Block& block) {
    const std::uint32_t code = m_options.codeBase + m_function.dags[block.dag].code;
    const std::uint32_t record = format::dagRecord(code);
    const Free free = freeAt(block);
    const Cursor cursor = m_forms.cursorAt(block);
    m_heads[block.dag] = m_forms.isShared(block)
                             ? emitSharedHead(m_code, record, free, cursor, m_out.routines)
                             : emitHeadProbe(m_code, record, free, cursor, m_options.moduleSlots);
    if (m_heads[block.dag].taken) m_out.routines.set(loadRoutine(m_heads[block.dag].scratch));
    // Told apart from the probe: the record is there.
    m_separate.push_back(m_heads[block.dag].claimed);
  }

  bool setsBit(const Block& block) const {
    return m_options.probes && block.kind == format::BlockEnd::Branch && block.bit != format::kNoBit;
  }

  const Block* branchThatSetsItsBitIn(BlockIndex b) const {
    const Block& block = m_function.blocks[b];
    if (block.predecessors.size() != 1) return nullptr;
    const Block& branch = m_function.blocks[block.predecessors.front()];
    return setsBit(branch) && bitIsSetInTarget(m_function, branch) && branch.successor[0] == b ? &branch
                                                                                               : nullptr;
  }

  // Behind the branch, and before what it leads to: whoever is interrupted here has not taken the branch yet.
  void emitBit(const Block& branch) {
    setOrigin(m_function.lastOf(branch), true);
    const BlockIndex to = branch.successor[branch.bitEdge];
    setBit(branch.bit, freeBehind(branch), branch.cold || (to != kNone && m_function.blocks[to].cold));
  }
  void setBit(unsigned bit, Free free, bool seldom) {
    if (seldom && m_forms.callsRoutines())
      emitSharedBit(m_code, bit, m_forms.keepsCursor(), m_out.routines);
    else
      emitLightProbe(m_code, bit, free, m_forms.keepsCursor());
  }

  // On the edge that sets the branch's bit.
  Free freeBehind(const Block& branch) const {
    const BlockIndex to = branch.successor[branch.bitEdge];
    if (to != kNone) return freeAt(m_function.blocks[to]);
    if (branch.bitEdge != 0) return {};
    return {RegisterSet(~branch.liveOutside), branch.liveFlagsOutside == 0};
  }

  // Where the block's last instruction is to lead, if it is a jump or a branch, which goes by that edge:
  // nothing if that is out of the function.
  std::optional<Label> edgeOf(BlockIndex b, unsigned edge) {
    const Block& block = m_function.blocks[b];
    if (setsBit(block) && block.bitEdge == edge && !bitIsSetInTarget(m_function, block)) {
      m_takenEdges.push_back({m_code.newLabel(), b});
      return m_takenEdges.back().label;
    }
    if (block.kind != format::BlockEnd::Jump && block.kind != format::BlockEnd::Branch) return std::nullopt;
    return labelBehind(block, edge);
  }
  std::optional<Label> labelBehind(const Block& block, unsigned edge) const {
    const BlockIndex to = block.successor[edge];
    if (to == kNone) return std::nullopt;
    return passes(block, edge, to) ? m_behindHeads[to] : m_blocks[to];
  }

  void emitTakenEdges() {
    for (const TakenEdge& edge : m_takenEdges) {
      const Block& block = m_function.blocks[edge.block];
      setOrigin(m_function.lastOf(block), true);
      m_code.bind(edge.label);
      emitBit(block);
      if (const auto behind = labelBehind(block, block.bitEdge))
        m_code.jump(*behind);
      else
        m_code.jump(m_function.lastOf(block).target);
    }
  }

  // Whether its call or jump by a slot goes directly to the copy of a function of the file, if it can.
  bool comparesSlot(const Block& block) const {
    return block.bySlot && m_options.probes && (block.passesEntry || m_forms.comesBackWithCursor(block));
  }

  // A call or jump to a stub:
  //     lea function(%rip), %r11; cmp %r11, slot(%rip); jne elsewhere; call or jmp to the copy
  // past its head perhaps. Then, behind all blocks, with the bit that says so:
  //     elsewhere: orb $bit, the record; call *slot(%rip) and jmp back, or jmp *slot(%rip)
  // If the copy comes back with the cursor, so does this, by loading it behind the call.
  void emitBySlot(BlockIndex b) {
    const Block& block = m_function.blocks[b];
    const Instruction& last = m_function.lastOf(block);
    const VirtAddr own = m_program.functions[block.callee].start;
    const VirtAddr slot = *slotOfStub(m_program, last.target);
    setOrigin(last, true);
    constexpr std::uint8_t kTake[] = {0x4C, 0x8D, 0x1D, 0, 0, 0, 0};
    constexpr std::uint8_t kCompare[] = {0x4C, 0x39, 0x1D, 0, 0, 0, 0};
    m_code.ripAbsolute(kTake, 3, own);
    m_code.ripAbsolute(kCompare, 3, slot);
    const Label elsewhere = m_code.newLabel();
    m_code.branch(kNotEqual, elsewhere);
    setOrigin(last, false);
    Label back;
    if (last.flow == Flow::Call) {
      m_code.call(own, block.passesEntry);
      back = boundHere();
    } else {
      m_code.jump(own, block.passesEntry);
    }
    m_elsewhere.push_back({b, elsewhere, back, slot});
  }

  void emitElsewhere() {
    for (const Elsewhere& way : m_elsewhere) {
      const Block& block = m_function.blocks[way.block];
      const Instruction& last = m_function.lastOf(block);
      setOrigin(last, true);
      m_code.bind(way.label);
      if (block.passesEntry) setBit(block.bit, {registerBit(kR11), true}, true);
      setOrigin(last, false);
      if (last.flow != Flow::Call) {
        m_code.jumpThrough(way.slot);
        continue;
      }
      m_code.callThrough(way.slot);
      setOrigin(m_function.instructions[block.end], true);
      if (m_forms.comesBackWithCursor(block))
        emitCursorLoad(m_code, freeAt(m_function.blocks[block.successor[0]]));
      m_code.jump(way.back);
    }
  }

  // Code that runs past the function's end goes on in the original.
  void emitFallOff() {
    const Instruction& last = m_function.instructions.back();
    setOrigin(last, true);
    // A call that ends its function is not expected back: if it comes, it has the cursor nowhere but in
    // memory.
    isCall(last.flow) ? m_code.jumpExactly(m_function.end()) : m_code.jump(m_function.end());
  }

  void emitWraps() {
    for (const Block& block : m_function.blocks) {
      if (!block.head || !m_options.probes || !m_heads[block.dag].wrapOutOfLine) continue;
      setOrigin(m_function.instructions[block.first], true);
      emitWrap(m_code, m_heads[block.dag], m_options.moduleSlots);
    }
    if (!m_entryLoad) return;
    setOrigin(m_function.instructions.front(), true);
    emitLoad(m_code, *m_entryLoad);
  }

  void emitDisplaced(const EntryWindow& window) {
    const auto covered = std::span(m_function.instructions).subspan(window.first, window.instructions);
    setOrigin(covered.front(), true);
    m_code.bind(m_displaced);
    for (const Instruction& insn : covered) {
      setOrigin(insn, false);
      m_instructions.emitExactly(insn);
    }
    if (!goesOn(covered.back().flow)) return;
    setOrigin(covered.back(), true);
    m_code.jumpExactly(covered.back().end());
  }

  // What is kept of the labels and items is where they came to be.
  void finish() {
    m_out.code = m_code.encode(m_out.references);
    if (m_gate.index != Label{}.index) m_out.gate = m_code.offsetOf(m_gate);
    if (m_unkeptEntry) m_out.unkeptEntry = m_code.offsetOf(*m_unkeptEntry);
    m_out.keepsCursor = m_forms.keepsCursor();
    m_out.behindEntry = m_code.offsetOf(m_forms.hasProbe(m_function.blocks.front()) ? m_behindHeads.front()
                                                                                    : m_blocks.front());
    m_out.jumpTables = m_tables.settled();
    m_out.hasTable = !m_function.indirectTargets.empty();
    m_out.blocks.reserve(m_blocks.size());
    for (const Label block : m_blocks) m_out.blocks.push_back(m_code.offsetOf(block));
    if (m_options.probes) {
      m_out.records.reserve(m_heads.size());
      for (const HeadProbe& head : m_heads) {
        m_out.records.push_back(m_code.endOf(head.record) - std::uint32_t(sizeof(format::Word)));
        if (head.taken) m_out.broughtHeads.push_back({m_code.offsetOf(*head.taken), head.scratch});
      }
      std::ranges::sort(m_out.broughtHeads, {}, &FunctionCode::BroughtHead::taken);
    }
    m_out.stretches = stretchesOf(m_code, m_function.start, m_separate, m_exact);
    m_out.references.shrink_to_fit();
  }

  const Program& m_program;
  const Function& m_function;
  const EmitOptions& m_options;
  const HeadForms m_forms;
  const IndirectTargets m_targets;
  FunctionCode& m_out;
  CodeBuilder m_code;
  CopiedInstructions m_instructions;
  CopiedTables m_tables;
  Label m_gate, m_displaced;
  std::vector<Label> m_blocks;  // where those come to that need the head's probe
  std::vector<Label> m_behindHeads;  // and where those that do not
  std::vector<HeadProbe> m_heads;  // by DAG
  // The edge of a branch on which a probe stands, out of line, before it goes on to where the branch leads.
  struct TakenEdge {
    Label label;
    BlockIndex block;
  };
  std::vector<TakenEdge> m_takenEdges;
  // Where a call or jump leads that passes an entry, if its slot leads elsewhere.
  struct Elsewhere {
    BlockIndex block;
    Label label, back;
    VirtAddr slot;
  };
  std::vector<Elsewhere> m_elsewhere;
  // What is in front of and behind the block that is being emitted.
  BlockIndex m_above = kNone, m_below = kNone;
  bool m_inverted = false;  // its branch, or up to its first instruction that of the block above
  std::vector<Label> m_separate;  // where the records of head probes are claimed
  std::vector<Label> m_exact;  // jumps that pass them
  std::optional<Label> m_unkeptEntry;
  std::optional<CursorLoad> m_entryLoad;
};

}  // namespace

FunctionCode emitFunction(const Program& program, const Function& function,
                          const std::optional<EntryWindow>& window, const EmitOptions& options) {
  FunctionCode out;
  Emitter(program, function, options, out).run(window);
  return out;
}

}  // namespace traceback::instrument
