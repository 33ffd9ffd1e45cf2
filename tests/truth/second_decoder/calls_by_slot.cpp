// Calls and jumps by stubs of the procedure linkage table: through the slot itself, or, where that has the
// address of a function of the module's own, past the head of its copy.
#include <algorithm>
#include <format>

#include "runtime/format/map.h"
#include "tests/truth/second_decoder/copy_checker.h"

namespace traceback::truth {

namespace {

constexpr std::uint16_t kR11 = 1U << 11;

}  // namespace

// The slot of `[endbr64] [bnd] jmp *slot(%rip)`; 0 if the stub is none.
std::uint64_t CopyChecker::slotOf(std::uint64_t stubAt) {
  Code stub;
  if (!decode(m_original, stubAt, stubAt + 15, stub)) return 0;
  if (stub.id == X86_INS_ENDBR64 && !decode(m_original, stubAt + stub.size, stubAt + stub.size + 15, stub))
    return 0;
  const unsigned prefix = stub.bytes[0] == 0xF2 ? 1 : 0;
  const bool isJump = stub.size == prefix + 6 && stub.bytes[prefix] == 0xFF && stub.bytes[prefix + 1] == 0x25;
  return isJump ? stub.ripTarget : 0;
}

// `call *slot(%rip)` or `jmp *slot(%rip)` in place of one to the stub.
bool CopyChecker::isThroughSlot(const Code& copy, const Code& original) {
  const bool calls = original.id == X86_INS_CALL;
  if (copy.size != 6 || copy.bytes[0] != 0xFF || copy.bytes[1] != (calls ? 0x15 : 0x25)) return false;
  const std::uint64_t slot = slotOf(original.target);
  return slot != 0 && slot == copy.ripTarget;
}

const format::BlockEntry* CopyChecker::blockBySlot(const Line& line, const Code& original) {
  const auto at = line.withBit.find(original.address);
  if (at == line.withBit.end()) return nullptr;
  const format::BlockEntry& block = line.function->blocks[at->second];
  return format::passesBySlot(block) ? &block : nullptr;
}

// Whether what is due compares a slot.
bool CopyChecker::comparesSlot(Line& line, const Code& original) {
  if (!original.direct || (original.id != X86_INS_CALL && original.id != X86_INS_JMP)) return false;
  Code c;
  return code(line, c) && c.id == X86_INS_LEA && c.reg0 == X86_REG_R11;
}

//   lea function(%rip), %r11; cmp %r11, slot(%rip); jne elsewhere; call or jmp to the function's copy
// Where no record goes on, any function will do, if it is the one that is compared with.
bool CopyChecker::checkBySlot(Line& line, const Code& original, std::uint64_t& itself) {
  const format::BlockEntry* block = blockBySlot(line, original);
  const std::uint64_t start = line.pc;
  Code lea, compare, branch, copy;
  if (!take(line, lea) || !take(line, compare) || !take(line, branch)) return false;
  const auto refuse = [&](const Code& c) {
    return fail(line, c.address, "not a comparison of a slot: " + text(c)), false;
  };
  const std::uint64_t function = block != nullptr ? format::passedFunction(*block) : lea.ripTarget;
  if (lea.id != X86_INS_LEA || lea.reg0 != X86_REG_R11 || lea.ripOffset == 0 || lea.ripTarget != function)
    return refuse(lea);
  // 39 /r: the operand in memory is the first.
  const std::uint64_t slot = slotOf(original.target);
  if (compare.id != X86_INS_CMP || compare.bytes[0] != 0x4C || compare.bytes[1] != 0x39 ||
      compare.bytes[2] != 0x1D || slot == 0 || compare.ripTarget != slot)
    return refuse(compare);
  if (branch.id != X86_INS_JNE) return refuse(branch);
  itself = line.pc;
  if (!take(line, copy)) return false;
  if (copy.id != original.id || !copy.direct)
    return fail(line, copy.address, std::format("{} instead of {}", text(copy), text(original))), false;
  ++m_findings.instructions;
  ++m_findings.bySlot;
  line.scratch = kR11;
  if (!checkScratch(line, start, (*line.needs)[line.next], kR11, true)) return false;
  m_obligations.push_back({copy.address, copy.target, function, false, original.address,
                           line.keeps.value_or(false), block != nullptr});
  line.calledBySlot[original.address] = function;
  line.elsewhere[line.next] = {branch.target, line.pc};
  return true;
}

//   elsewhere: the probe; call *slot(%rip); jmp back     or     jmp *slot(%rip)
bool CopyChecker::checkElsewhere(Line& line) {
  const std::uint64_t behindBlocks = line.pc;
  std::uint64_t end = behindBlocks;
  for (const auto& [index, way] : line.elsewhere) {
    const Code& original = line.original[index];
    const auto [origin, fixed] = originOf(*line.function, way.first);
    if (way.first < behindBlocks || origin != original.address || !fixed)
      return fail(line, way.first, "the way through a slot stands for something else"), false;
    line.pc = way.first;
    line.scratch = 0;
    if (blockBySlot(line, original) != nullptr) {
      bool found = false;
      if (!checkProbe(line, Probe::Light, original.address, (*line.needs)[index], found)) return false;
      if (!found) return fail(line, way.first, "no probe on the way through a slot"), false;
    }
    const std::uint64_t at = line.pc;
    Code copy, back;
    if (originOf(*line.function, at).first != original.address || !take(line, copy) ||
        !isThroughSlot(copy, original))
      return fail(line, at, "not through the slot of " + text(original)), false;
    ++m_findings.throughSlots;
    m_places.push_back({way.first, at, line.pc, original.address, original.size, line.scratch});
    if (original.id == X86_INS_CALL) {
      const std::uint64_t next = original.address + original.size, behind = line.pc;
      bool loads = false;
      if (originOf(*line.function, behind) == std::pair(next, true) &&
          !checkCursorLoad(line, (*line.needs)[index + 1], loads))
        return false;
      if (!loads && m_awaitBrought.contains(next))
        return fail(line, behind, "does not bring the cursor back from a slot"), false;
      if (originOf(*line.function, line.pc) != std::pair(next, true) || !take(line, back) ||
          back.id != X86_INS_JMP || back.target != way.second)
        return fail(line, line.pc, "does not come back from a slot"), false;
      m_places.push_back({behind, 0, line.pc, next, 0, line.scratch, true});
    }
    end = std::max(end, line.pc);
  }
  line.pc = end;
  return true;
}

}  // namespace traceback::truth
