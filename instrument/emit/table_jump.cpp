#include "instrument/emit/table_jump.h"

#include <vector>

#include "instrument/emit/probe_parts.h"
#include "instrument/emit/probes.h"

namespace traceback::instrument {
namespace {

constexpr std::uint8_t kAboveOrEqual = 3, kNotEqual = 5;
constexpr unsigned kSlot = 0;

// cmp $value, reg
void compareIndex(CodeBuilder& code, unsigned reg, std::uint32_t value) {
  if (value < 0x80)
    code.bytes({rex(true, 0, reg), 0x83, modrm(3, 7, reg), std::uint8_t(value)});
  else
    code.bytes(Sequence().add(rex(true, 0, reg), 0x81, modrm(3, 7, reg)).add32(value).bytes());
}

// lea address(%rip), reg
void takeAddress(CodeBuilder& code, unsigned reg, VirtAddr address) {
  const std::uint8_t lea[] = {rex(true, reg, 0), 0x8D, modrm(0, reg, 5), 0, 0, 0, 0};
  code.ripAbsolute(lea, 3, address);
}

void compareBase(CodeBuilder& code, const TableJump& jump, Label changed) {
  const unsigned reg = jump.forBase();
  takeAddress(code, reg, jump.table.original);
  code.bytes({rex(true, reg, jump.operand.base), 0x39, modrm(3, reg, jump.operand.base)});
  code.branch(kNotEqual, changed);
}

}  // namespace

SlowWay emitTableLoad(CodeBuilder& code, const TableJump& jump, const Instruction& load,
                      std::span<const std::uint8_t> raw, std::uint32_t number) {
  const IndexedOperand& operand = jump.operand;
  SlowWay way{code.newLabel(), code.newLabel(), jump.comparesIndex || jump.comparesBase, jump.comparesBase};
  code.setOrigin({load.address, load.length, true});
  if (jump.comparesIndex) {
    compareIndex(code, operand.index, jump.table.entries());
    code.branch(kAboveOrEqual, way.start);
  }
  if (jump.spills) emitSpill(code, *jump.scratch, kSlot);
  if (jump.comparesBase) compareBase(code, jump, way.changed);
  if (jump.table.kind == JumpTable::Kind::Absolute) {
    code.jumpTable(raw, operand.displacementAt, number);
    return way;
  }
  const unsigned to = jump.forAddress();
  const auto prefix = std::uint8_t(rex(true, to, operand.base) | (operand.index >= 8 ? 2 : 0));
  const std::uint8_t distance[] = {prefix, 0x63, modrm(2, to, 4), modrm(2, operand.index, operand.base), 0, 0,
                                   0,      0};
  code.jumpTable(distance, 4, number);
  if (jump.table.kind == JumpTable::Kind::Offsets) return way;
  code.bytes({rex(true, operand.base, to), 0x01, modrm(3, operand.base, to)});
  if (operand.of == IndexedOperand::Of::Jump)
    code.bytes(Sequence().optionalRex(0, to).add(0xFF, modrm(3, 4, to)).bytes());
  return way;
}

void emitSlowStart(CodeBuilder& code, const TableJump& jump, const SlowWay& way) {
  if (way.isChanged) {
    code.bind(way.changed);
    if (jump.spills) emitRestore(code, *jump.scratch, kSlot);
  }
  code.bind(way.start);
}

void emitStub(CodeBuilder& code, const Restored& restored, VirtAddr original) {
  if (restored.scratch) emitRestore(code, *restored.scratch, kSlot);
  if (!restored.target) return;
  const unsigned target = *restored.target;
  takeAddress(code, target, original);
  if (!restored.flagsOfAdd) return;
  const unsigned base = *restored.flagsOfAdd;
  code.bytes({rex(true, base, target), 0x29, modrm(3, base, target)});
  code.bytes({rex(true, base, target), 0x01, modrm(3, base, target)});
}

}  // namespace traceback::instrument
