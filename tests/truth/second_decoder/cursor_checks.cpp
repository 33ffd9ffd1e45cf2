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

namespace {

//   add $4, reg16
bool stepsInWindow(const Code& c, unsigned reg) {
  return c.id == X86_INS_ADD && !c.memory && c.reg0 == sixteenBitsOf(reg) && c.imm == kNextWord;
}
//   lea 4(reg), %ecx
bool looksBehind(const Code& c, unsigned reg) {
  return c.id == X86_INS_LEA && c.reg0 == X86_REG_ECX && c.base == reg && c.disp == kNextWord;
}

//   movq reg, %xmm15
bool bringsIntoXmm15(const Code& c, unsigned reg) {
  return c.id == X86_INS_MOVQ && !c.memory && c.reg0 == X86_REG_XMM15 && c.reg1 == reg;
}

}  // namespace

// Whether what is due brings the cursor in `reg` into xmm15.
bool CopyChecker::isKeptNext(Line& line, unsigned reg) {
  Code c;
  return code(line, c) && bringsIntoXmm15(c, reg);
}

// Whether what is due looks for the end of the window that the cursor in `reg` is in.
bool CopyChecker::looksForWindowEnd(Line& line, unsigned reg) {
  Code c;
  return code(line, c) && (stepsInWindow(c, reg) || looksBehind(c, reg));
}

//   add $4, reg16; jc wrap
// To which the runtime comes back.
bool CopyChecker::checkWindowByFlags(Line& line, const Code& step, unsigned reg, bool kept,
                                     std::uint64_t original) {
  Code c;
  if (!stepsInWindow(step, reg)) return fail(line, step.address, text(step)), false;
  if (!take(line, c) || c.id != X86_INS_JB) return fail(line, c.address, text(c)), false;
  line.wraps.emplace_back(c.target, step.address);
  line.wrapRegisters.push_back(reg);
  line.wrapsKept.push_back(kept);
  line.wrapOrigins.push_back(original);
  return true;
}

//   lea 4(reg), %ecx; movzwl %cx, %ecx; jrcxz 1f; jmp 2f; 1: lea 2f(%rip), reg; jmp *wrap; 2:
bool CopyChecker::checkWindowByCount(Line& line, const Code& behind, unsigned reg, bool kept) {
  if (!looksBehind(behind, reg))
    return fail(line, behind.address, "not a head probe: " + text(behind)), false;
  Code c, over, go, lea, jump;
  if (!take(line, c) || c.id != X86_INS_MOVZX || c.reg0 != X86_REG_ECX || c.reg1 != X86_REG_CX)
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

// Whether what has the header's address besides brings the cursor in `reg` into xmm15.
bool CopyChecker::keepsByHeader(Line& line, unsigned reg) {
  const std::uint64_t start = line.pc;
  Code step, branch, record, move;
  const bool keeps = take(line, step) && take(line, branch) && take(line, record) && take(line, move) &&
                     bringsIntoXmm15(move, reg);
  line.pc = start;
  return keeps;
}

// Whether what is due is that instruction, of a step of the cursor.
bool CopyChecker::checkStep(Line& line, unsigned id, const std::function<bool(const Code&)>& isGood) {
  Code c;
  if (!take(line, c)) return false;
  if (c.id == id && isGood(c)) return true;
  return fail(line, c.address, "not a step of the cursor: " + text(c)), false;
}

//   mov reg, (header)
bool CopyChecker::checkStoredCursor(Line& line, unsigned reg, unsigned header) {
  return checkStep(line, X86_INS_MOV, [reg, header](const Code& c) {
    return c.memoryFirst && c.base == header && c.disp == 0 && c.reg1 == reg && c.width == 8;
  });
}

// With the header's address in a register of its own, and the cursor in xmm15 from now on, or not:
//   movq reg, %xmm15; mov reg, (header)
//   mov reg, (header)
bool CopyChecker::checkClaimByHeader(Line& line, unsigned reg, unsigned header, bool kept) {
  const bool isKept =
      !kept || checkStep(line, X86_INS_MOVQ, [reg](const Code& c) { return bringsIntoXmm15(c, reg); });
  return isKept && checkStoredCursor(line, reg, header);
}

// With the cursor in xmm15:
//   mov %fs:slot, reg; paddq step(reg), %xmm15; movlps %xmm15, (reg)
// With it in memory alone, and the flags live:
//   mov %fs:slot, %rcx; lea 4(reg), reg; mov reg, (%rcx)
bool CopyChecker::checkClaim(Line& line, unsigned reg, bool kept, bool byFlags) {
  constexpr auto kStep = std::int64_t(offsetof(format::SegmentHeader, step));
  if (!kept && byFlags) return fail(line, line.pc, "steps the cursor in memory"), false;
  const unsigned header = kept ? reg : unsigned{X86_REG_RCX};
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
  return reg != header &&
         checkStep(line, X86_INS_LEA,
                   [reg](const Code& c) {
                     return c.reg0 == reg && c.base == reg && c.disp == kNextWord && c.width == 8;
                   }) &&
         checkStoredCursor(line, reg, header);
}

}  // namespace traceback::truth
