// How a head looks at the word behind the cursor, and steps that over it.
#include <cstddef>
#include <cstdint>

#include "runtime/format/module.h"
#include "runtime/format/ring.h"
#include "tests/truth/second_decoder/copy_checker.h"

namespace traceback::truth {

bool CopyChecker::isWayToWrap(const Code& lea, const Code& jump, unsigned reg, bool kept) const {
  const int number = registerNumber(reg);
  const std::size_t entries =
      kept ? offsetof(format::ModuleSlots, wrapKept) : offsetof(format::ModuleSlots, wrap);
  return lea.id == X86_INS_LEA && lea.reg0 == reg && jump.id == X86_INS_JMP && jump.ripOffset != 0 &&
         number >= 0 && jump.ripTarget == m_file.module.moduleSlots + entries + 8 * unsigned(number);
}

// Whether what is due looks at the word behind the cursor, which is in `reg`.
bool CopyChecker::looksForSentinel(Line& line, unsigned reg) {
  Code c;
  if (!code(line, c) || c.base != reg || c.disp != kNextWord || c.width != 4) return false;
  return c.id == X86_INS_CMP ? std::uint32_t(c.imm) == format::kSentinelWord
                             : c.id == X86_INS_MOV && !c.memoryFirst && c.reg0 == X86_REG_ECX;
}

//   cmpl $-1, 4(reg); je wrap
bool CopyChecker::checkSentinelByFlags(Line& line, const Code& compare, unsigned reg, bool kept,
                                       std::uint64_t original) {
  Code c;
  if (compare.base != reg || compare.disp != kNextWord || compare.width != 4 ||
      std::uint32_t(compare.imm) != format::kSentinelWord)
    return fail(line, compare.address, text(compare)), false;
  if (!take(line, c) || c.id != X86_INS_JE) return fail(line, c.address, text(c)), false;
  line.wraps.emplace_back(c.target, line.pc);
  line.wrapRegisters.push_back(reg);
  line.wrapsKept.push_back(kept);
  line.wrapOrigins.push_back(original);
  return true;
}

//   mov 4(reg), %ecx; not %ecx; jrcxz 1f; jmp 2f; 1: lea 2f(%rip), reg; jmp *wrap; 2:
bool CopyChecker::checkSentinelByCount(Line& line, const Code& load, unsigned reg, bool kept) {
  if (load.id != X86_INS_MOV || load.memoryFirst || load.reg0 != X86_REG_ECX || load.base != reg ||
      load.disp != kNextWord)
    return fail(line, load.address, "not a head probe: " + text(load)), false;
  Code c, over, go, lea, jump;
  if (!take(line, c) || c.id != X86_INS_NOT || c.reg0 != X86_REG_ECX)
    return fail(line, c.address, "not a head probe: " + text(c)), false;
  if (!take(line, over) || !take(line, go)) return false;
  if (over.id != X86_INS_JRCXZ || over.target != line.pc || go.id != X86_INS_JMP || !go.direct)
    return fail(line, over.address, text(over) + "; " + text(go)), false;
  if (!take(line, lea) || !take(line, jump)) return false;
  if (!isWayToWrap(lea, jump, reg, kept))
    return fail(line, lea.address, "not the way to the runtime: " + text(lea) + "; " + text(jump)), false;
  if (go.target != line.pc) return fail(line, go.address, "leads astray: " + text(go)), false;
  if (lea.ripTarget != line.pc) return fail(line, lea.address, "the runtime comes back elsewhere"), false;
  return true;
}

// Whether what writes its record behind the cursor in `reg` steps that on its way into xmm15, rather than in
// memory alone.
bool CopyChecker::stepsOnTheWay(Line& line, unsigned reg) {
  const std::uint64_t start = line.pc;
  Code compare, branch, record, step;
  const bool steps = take(line, compare) && take(line, branch) && take(line, record) && take(line, step) &&
                     step.id == X86_INS_ADD && !step.memory && step.reg0 == reg;
  line.pc = start;
  return steps;
}

// Whether what is due is that instruction, of a step of the cursor.
bool CopyChecker::checkStep(Line& line, unsigned id, const std::function<bool(const Code&)>& isGood) {
  Code c;
  if (!take(line, c)) return false;
  if (c.id == id && isGood(c)) return true;
  return fail(line, c.address, "not a step of the cursor: " + text(c)), false;
}

//   addq $4, (header)
bool CopyChecker::checkStepInMemory(Line& line, unsigned header) {
  return checkStep(line, X86_INS_ADD, [header](const Code& c) {
    return c.memoryFirst && c.base == header && c.disp == 0 && c.imm == kNextWord && c.width == 8;
  });
}

//   mov reg, (header)
bool CopyChecker::checkStoredCursor(Line& line, unsigned reg, unsigned header) {
  return checkStep(line, X86_INS_MOV, [reg, header](const Code& c) {
    return c.memoryFirst && c.base == header && c.disp == 0 && c.reg1 == reg && c.width == 8;
  });
}

// With the header's address in a register of its own, and the cursor in xmm15 from now on, or not:
//   add $4, reg; movq reg, %xmm15; mov reg, (header)
//   addq $4, (header)
bool CopyChecker::checkClaimByHeader(Line& line, unsigned reg, unsigned header, bool kept) {
  if (!kept) return checkStepInMemory(line, header);
  return checkStep(line, X86_INS_ADD,
                   [reg](const Code& c) { return !c.memory && c.reg0 == reg && c.imm == kNextWord; }) &&
         checkStep(line, X86_INS_MOVQ,
                   [reg](const Code& c) { return !c.memory && c.reg0 == X86_REG_XMM15 && c.reg1 == reg; }) &&
         checkStoredCursor(line, reg, header);
}

// With the cursor in xmm15:
//   mov %fs:slot, reg; paddq step(reg), %xmm15; movlps %xmm15, (reg)
// with the flags dead, or not:
//   mov %fs:slot, reg; addq $4, (reg)
//   mov %fs:slot, %rcx; lea 4(reg), reg; mov reg, (%rcx)
bool CopyChecker::checkClaim(Line& line, unsigned reg, bool kept, bool byFlags) {
  constexpr auto kStep = std::int64_t(offsetof(format::SegmentHeader, step));
  const unsigned header = kept || byFlags ? reg : unsigned{X86_REG_RCX};
  if (!checkStep(line, X86_INS_MOV, [header](const Code& c) {
        return c.segment == X86_REG_FS && !c.memoryFirst && c.base == X86_REG_INVALID &&
               c.disp == format::kThreadSlot && c.reg0 == header;
      }))
    return false;
  if (kept) {
    return checkStep(line, X86_INS_PADDQ,
                     [=](const Code& c) {
                       return c.reg0 == X86_REG_XMM15 && c.base == header && c.disp == kStep;
                     }) &&
           checkStep(line, X86_INS_MOVLPS, [header](const Code& c) {
             return c.memoryFirst && c.base == header && c.disp == 0 && c.reg1 == X86_REG_XMM15;
           });
  }
  if (byFlags) return checkStepInMemory(line, header);
  return reg != header &&
         checkStep(line, X86_INS_LEA,
                   [reg](const Code& c) {
                     return c.reg0 == reg && c.base == reg && c.disp == kNextWord && c.width == 8;
                   }) &&
         checkStoredCursor(line, reg, header);
}

}  // namespace traceback::truth
