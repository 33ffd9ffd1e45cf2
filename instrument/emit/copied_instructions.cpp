#include "instrument/emit/copied_instructions.h"

#include <vector>

#include "instrument/analysis/stubs.h"
#include "instrument/emit/dispatch.h"

namespace traceback::instrument {

namespace {

std::uint8_t conditionOf(std::span<const std::uint8_t> raw) {
  // Behind prefixes: 7x, or 0f 8x.
  std::size_t i = 0;
  while (raw[i] != 0x0F && (raw[i] & 0xF0) != 0x70) ++i;
  return raw[i] == 0x0F ? raw[i + 1] & 0x0F : raw[i] & 0x0F;
}

}  // namespace

std::span<const std::uint8_t> CopiedInstructions::bytesOf(const Instruction& insn) const {
  const auto bytes = m_program.codeAt(insn.address, insn.length);
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

void CopiedInstructions::emit(const Instruction& insn, const Way& way) {
  switch (insn.flow) {
    case Flow::Jump:
      if (const auto slot = slotOf(insn.target))
        m_code.jumpThrough(*slot);
      else if (way.edge)
        m_code.jump(*way.edge);
      else
        m_code.jump(insn.target, way.passesEntry);
      return;
    case Flow::Branch:
      return emitBranch(insn, way);
    case Flow::ShortBranch:
      emitShort(insn);
      if (way.edge)
        m_code.jumpLong(*way.edge);
      else
        m_code.jump(insn.target);
      return;
    case Flow::Call:
      if (const auto slot = slotOf(insn.target))
        m_code.callThrough(*slot);
      else
        m_code.call(insn.target, way.passesEntry);
      return;
    case Flow::IndirectJump:
      if (m_targets.empty()) return emitBytes(insn);
      return emitDispatch(m_code, m_targets.functions(), insn, bytesOf(insn), m_function.jumpFlags);
    default:
      return emitBytes(insn);
  }
}

void CopiedInstructions::emitExactly(const Instruction& insn) {
  switch (insn.flow) {
    case Flow::Jump:
      return m_code.jumpExactly(insn.target);
    case Flow::Branch:
      return m_code.branchExactly(conditionOf(bytesOf(insn)), insn.target);
    case Flow::ShortBranch:
      emitShort(insn);
      return m_code.jumpExactly(insn.target);
    case Flow::Call:
      return m_code.callExactly(insn.target);
    default:
      return emitBytes(insn);
  }
}

void CopiedInstructions::emitBranch(const Instruction& insn, const Way& way) {
  const std::uint8_t condition = conditionOf(bytesOf(insn)) ^ (way.inverted ? 1 : 0);
  if (way.edge)
    m_code.branch(condition, *way.edge);
  else
    m_code.branch(condition, insn.target);
}

// jrcxz and loop reach 127 bytes:   op take; jmp next; take: jmp target; next:   up to the last jump
void CopiedInstructions::emitShort(const Instruction& insn) {
  const auto raw = bytesOf(insn);
  std::vector<std::uint8_t> op(raw.begin(), raw.end());
  op.back() = 2;
  m_code.bytes(op);
  m_code.bytes({0xEB, 5});
}

void CopiedInstructions::emitBytes(const Instruction& insn) {
  const auto raw = bytesOf(insn);
  if (insn.ripOffset != 0)
    m_code.ripAbsolute(raw, insn.ripOffset, insn.ripTarget);
  else
    m_code.bytes(raw);
}

std::optional<VirtAddr> CopiedInstructions::slotOf(VirtAddr target) const {
  return m_calledSlots ? slotOfStub(m_program, target) : std::nullopt;
}

}  // namespace traceback::instrument
