// Probes: the instructions that write a head or set a bit, whatever form they have.
#include <algorithm>
#include <cstddef>
#include <format>
#include <iterator>
#include <map>

#include "runtime/format/module.h"
#include "runtime/format/ring.h"
#include "tests/truth/second_decoder/copy_checker.h"

namespace traceback::truth {

namespace {

// A call at the very beginning is the profiler's.
bool isLeaf(const std::vector<Code>& function) {
  for (std::size_t i = 2; i < function.size(); ++i)
    if (function[i].effects.leaves == Leaves::Call) return false;
  return true;
}

}  // namespace

// What a probe changes must not be needed by what follows it.
bool CopyChecker::checkScratch(const Line& line, std::uint64_t at, const Needs& needs, std::uint16_t written,
                               bool flagsWritten) {
  if ((needs.registers & written) != 0)
    return fail(line, at,
                std::format("uses registers {:#x}, of which {:#x} are needed", written,
                            needs.registers & written)),
           false;
  if (flagsWritten && (needs.flags & kStatusFlags) != 0)
    return fail(line, at, "changes the flags, which are needed"), false;
  return true;
}

// All probes of a copy find the cursor in the same place; if that is xmm15, nothing else may be there.
bool CopyChecker::checkKeeps(Line& line, bool keeps) {
  if (line.keeps) {
    if (*line.keeps == keeps) return true;
    return fail(line, line.pc, "its probes do not agree on where the cursor is"), false;
  }
  line.keeps = keeps;
  if (!keeps) return true;
  for (std::size_t i = 0; i < line.original.size(); ++i) {
    if (!line.original[i].effects.namesXmm15 && ((*line.needs)[i].flags & (kXmm15 | kXmm15Beyond)) == 0)
      continue;
    return fail(line, line.pc,
                std::format("keeps the cursor in xmm15, which is used at {:#x}: {}", line.original[i].address,
                            text(line.original[i]))),
           false;
  }
  return true;
}

//   (mov %fs:slot, reg;) mov (reg), reg; movq reg, %xmm15      where control comes with something else in it
//   movq %xmm15, reg                                           elsewhere, if the copy keeps the cursor;
//                                                              behind a call that brings it, with a NOP in
//                                                              front perhaps
//   (mov %fs:slot, header;) mov (header), reg                  in place of the first, or if not; with the
//                                                              flags live, in that register itself
// then: is the word behind it another window's, movl $record to that, and the step. What is in parentheses,
// or the movq, was taken already.
bool CopyChecker::checkHead(Line& line, unsigned reg, bool isCopied, std::uint64_t original) {
  Code c;
  bool loads = false;
  const unsigned header = reg;
  if (!isCopied) {
    if (!take(line, c)) return false;
    if (c.id != X86_INS_MOV || c.memoryFirst || c.width != 8 || c.base != header || c.disp != 0)
      return fail(line, c.address, "does not take the cursor: " + text(c)), false;
    reg = c.reg0;
    loads = reg == header && isKeptNext(line, reg);
    if (loads && !take(line, c)) return false;
  }
  const bool hasHeader = !isCopied && reg != header;
  const bool kept = hasHeader ? keepsByHeader(line, reg) : isCopied || loads;
  if (!checkKeeps(line, kept)) return false;
  if (isCopied) {
    if (callInFront(line, original) == nullptr) {
      m_needCursor.insert(original);
    } else if (!checkBroughtHead(line, line.pc - format::kBroughtHeadSize, reg, original)) {
      return false;
    }
  }
  if (!take(line, c)) return false;
  const bool byFlags = c.id == X86_INS_ADD;
  if (hasHeader && !byFlags)
    return fail(line, c.address, "keeps the header, but no flags: " + text(c)), false;
  if (!(byFlags ? checkWindowByFlags(line, c, reg, kept, original) : checkWindowByCount(line, c, reg, kept)))
    return false;
  if (!take(line, c) || c.id != X86_INS_MOV || !c.memoryFirst || c.base != reg ||
      c.disp != (byFlags ? 0 : kNextWord) || c.width != 4)
    return fail(line, c.address, "no record is written: " + text(c)), false;
  if (!checkRecord(line, c, original)) return false;
  return hasHeader ? checkClaimByHeader(line, reg, header, kept) : checkClaim(line, reg, kept, byFlags);
}

bool CopyChecker::checkRecord(Line& line, const Code& c, std::uint64_t original) {
  const std::uint32_t word = std::uint32_t(c.imm);
  const auto found = line.dagOfWord.find(word);
  if (found == line.dagOfWord.end())
    return fail(line, c.address, std::format("writes {:#x}, which no DAG of the function has", word)), false;
  const std::uint32_t head = line.function->blocks[line.function->dags[found->second].firstBlock].start;
  if (head != original)
    return fail(line, c.address,
                std::format("writes the record of the DAG at {:#x}, not {:#x}", head, original)),
           false;
  if (!line.headsSeen.insert(found->second).second)
    return fail(line, c.address, "a second head of the same DAG"), false;
  ++m_findings.heads;
  return true;
}

//   mov $record, r; call routine
// or, r being needed: mov %rcx, -16(%rsp); mov $record, %ecx; call of a routine that restores it
// Behind calls, where functions begin that are only called, and anywhere in those that are no leaves.
bool CopyChecker::checkSharedHead(Line& line, std::uint64_t original, const Needs& needs, bool& found) {
  found = false;
  const std::uint64_t start = line.pc;
  Code c, call;
  if (!take(line, c)) return false;
  const bool spills = c.id == X86_INS_MOV && c.memoryFirst && c.base == X86_REG_RSP && c.disp == -16 &&
                      c.width == 8 && c.reg1 == X86_REG_RCX;
  if (spills && !take(line, c)) return false;
  const int holder = registerNumber(c.reg0);
  // b8+r imm32
  const bool loads = c.id == X86_INS_MOV && !c.memory && holder >= 0 && (c.bytes[c.size - 5] & 0xF8) == 0xB8;
  const auto routine = loads && take(line, call) && call.id == X86_INS_CALL
                           ? m_routines.records.find(call.target)
                           : m_routines.records.end();
  if (routine == m_routines.records.end()) {
    line.pc = start;
    return true;
  }
  found = true;
  if (routine->second.record != unsigned(holder) || routine->second.restores != spills)
    return fail(line, call.address, "calls a record routine that expects something else"), false;
  if (!checkKeeps(line, routine->second.keeps)) return false;
  if (routine->second.brought) awaitBrought(line, original);
  if (routine->second.brought && callInFront(line, original) == nullptr) m_needCursor.insert(original);
  const bool isEntry = original == line.original.front().address;
  if (isEntry && routine->second.keeps && !routine->second.brought) m_unkeptEntries[original] = start;
  const bool isOnlyCalled = isEntry && !std::ranges::binary_search(m_flags.jumpTargets(), original);
  if (!checkRoutinesStack(line, start, isOnlyCalled || callInFront(line, original) != nullptr)) return false;
  line.scratch = spills ? std::uint16_t{0} : std::uint16_t(1U << unsigned(holder));
  constexpr unsigned kR11 = 11;
  if (routine->second.scratch != kR11)
    line.scratch = std::uint16_t(line.scratch | 1U << routine->second.scratch);
  return checkScratch(line, start, needs, line.scratch, true) && checkRecord(line, c, original);
}

//   call routine
// Which needs nothing: in functions that are no leaves.
bool CopyChecker::checkSharedBit(Line& line, std::uint64_t branch, bool& found) {
  const std::uint64_t start = line.pc;
  Code call;
  if (!code(line, call)) return false;
  const auto routine =
      call.id == X86_INS_CALL && call.direct ? m_routines.bits.find(call.target) : m_routines.bits.end();
  found = routine != m_routines.bits.end();
  if (!found) return true;
  line.pc += call.size;
  line.scratch = 0;
  return checkKeeps(line, routine->second.keeps) && checkRoutinesStack(line, start, false) &&
         checkMask(line, call, branch, routine->second.mask);
}

// What a routine takes of the stack must be nobody's, as it is in functions that keep nothing below the stack
// pointer, and are no leaves (psABI 3.2.2).
bool CopyChecker::checkRoutinesStack(const Line& line, std::uint64_t at, bool isFreeInLeaves) {
  if (!isFreeInLeaves && isLeaf(line.original))
    return fail(line, at, "calls a routine where the word below the stack may be needed"), false;
  for (const Code& code : line.original)
    if (code.base == X86_REG_RSP && code.disp < 0)
      return fail(line, at, "calls a routine, but keeps something there: " + text(code)), false;
  return true;
}

bool CopyChecker::checkMask(Line& line, const Code& at, std::uint64_t branch, std::uint32_t mask) {
  const auto block = line.withBit.find(branch);
  if (block == line.withBit.end() || mask != 1U << line.function->blocks[block->second].bit)
    return fail(line, at.address,
                std::format("sets {:#x}, which is not the bit of the branch at {:#x}", mask, branch)),
           false;
  if (!line.lightsSeen.insert(block->second).second)
    return fail(line, at.address, std::format("a second probe of the branch at {:#x}", branch)), false;
  ++m_findings.lights;
  return true;
}

// Spills, one core, restores of the same registers. `found` says whether there is any probe here. `original`
// is the place of a head, or the branch whose bit is set; `needs` is what the code behind the probe needs.
bool CopyChecker::checkProbe(Line& line, Probe kind, std::uint64_t original, const Needs& needs,
                             bool& found) {
  found = false;
  if (kind == Probe::Head) {
    if (!checkSharedHead(line, original, needs, found)) return false;
    if (found) return true;
  } else {
    if (!checkSharedBit(line, original, found)) return false;
    if (found) return true;
  }
  const std::uint64_t start = line.pc;
  std::map<unsigned, std::int64_t> spilled;
  Code c;
  if (!take(line, c)) return false;
  while (c.id == X86_INS_MOV && c.memoryFirst && c.segment == X86_REG_FS && c.base == X86_REG_INVALID &&
         c.disp >= format::kSpillSlot &&
         c.disp < format::kSpillSlot + 8 * std::int64_t(format::kSpillSlots)) {
    spilled[c.reg1] = c.disp;
    if (!take(line, c)) return false;
  }
  // What could be written over does not cross a multiple of eight.
  if (kind == Probe::Head && c.id == X86_INS_NOP && m_broughtHeads.contains(line.pc) && !take(line, c))
    return false;
  // The first head of a copy may be the first that says where the cursor is.
  const bool isCopied = c.id == X86_INS_MOVQ && c.reg1 == X86_REG_XMM15 && !c.memory &&
                        line.keeps.value_or(kind == Probe::Head && looksForWindowEnd(line, c.reg0));
  if (!isCopied &&
      (c.id != X86_INS_MOV || c.segment != X86_REG_FS || c.memoryFirst || c.disp != format::kThreadSlot)) {
    line.pc = start;
    return true;
  }
  found = true;
  const unsigned reg = c.reg0;
  const std::uint64_t core = line.pc;
  bool isHead = isCopied && looksForWindowEnd(line, reg);
  if (!isCopied) {
    if (!take(line, c)) return false;
    isHead = isKeptNext(line, c.reg0) || looksForWindowEnd(line, c.reg0);
  }
  if (!isHead) {
    if (!isCopied && (c.id != X86_INS_MOV || c.memoryFirst || c.reg0 != reg || c.base != reg || c.disp != 0))
      return fail(line, c.address, "does not take the cursor: " + text(c)), false;
    if (!checkKeeps(line, isCopied)) return false;
    if (!take(line, c)) return false;
    // In one byte of the record, orb $mask, byte(reg), or, without flags,
    // movzbl byte(reg), value; lea mask(value), value; movb value, byte(reg).
    const std::int64_t byte = c.disp;
    if (c.base != reg || c.width != 1 || byte < 0 || byte >= std::int64_t(sizeof(format::Word)))
      return fail(line, c.address, "not a light probe: " + text(c)), false;
    std::uint32_t mask = 0;
    if (c.id == X86_INS_OR && c.memoryFirst) {
      mask = std::uint32_t(c.imm & 0xFF);
    } else {
      Code lea, store;
      if (c.id != X86_INS_MOVZX || c.memoryFirst)
        return fail(line, c.address, "not a probe: " + text(c)), false;
      if (!take(line, lea) || !take(line, store)) return false;
      if (lea.id != X86_INS_LEA || registerNumber(lea.reg0) != registerNumber(c.reg0) || lea.base == reg ||
          registerNumber(lea.base) != registerNumber(c.reg0) || store.id != X86_INS_MOV ||
          !store.memoryFirst || store.base != reg || store.disp != byte || store.width != 1 ||
          registerNumber(store.reg1) != registerNumber(c.reg0) || lea.disp < -0x80 || lea.disp > 0x40)
        return fail(line, lea.address, "not a light probe: " + text(lea) + "; " + text(store)), false;
      mask = std::uint32_t(lea.disp & 0xFF);
    }
    mask <<= 8 * byte;
    if (kind != Probe::Light) return fail(line, start, "a light probe where a head may be"), false;
    if (!checkMask(line, c, original, mask)) return false;
  } else {
    line.pc = core;
    if (kind != Probe::Head) return fail(line, start, "a head where a light probe may be"), false;
    if (!checkHead(line, reg, isCopied, original)) return false;
  }
  // Of all that was written, what the restores below do not bring back.
  std::uint16_t written = 0;
  bool flags = false;
  for (std::uint64_t at = start; at < line.pc;) {
    Code part;
    if (!decode(m_file.elf, at, line.end, part)) return false;
    written |= part.effects.writes.registers;
    if ((part.effects.writes.flags & kStatusFlags) != 0) flags = true;
    at += part.size;
  }
  for (const auto& [reg0, slot] : spilled) written = std::uint16_t(written & ~(1U << registerNumber(reg0)));
  line.scratch = written;
  if (!checkScratch(line, start, needs, written, flags)) return false;
  while (!spilled.empty()) {
    if (!take(line, c)) return false;
    const auto slot = spilled.find(c.reg0);
    if (c.id != X86_INS_MOV || c.memoryFirst || c.segment != X86_REG_FS || slot == spilled.end() ||
        slot->second != c.disp)
      return fail(line, c.address, "a register is not restored; instead: " + text(c)), false;
    spilled.erase(slot);
  }
  return true;
}

bool CopyChecker::checkWraps(Line& line) {
  const std::uint64_t behindBlocks = line.pc;
  std::uint64_t end = behindBlocks;
  for (std::size_t i = 0; i < line.wraps.size(); ++i) {
    const auto [at, resumesAt] = line.wraps[i];
    if (at < behindBlocks) return fail(line, at, "the way to the runtime is among the blocks"), false;
    line.pc = at;
    Code lea, jump;
    if (!take(line, lea) || !take(line, jump)) return false;
    if (!isWayToWrap(lea, jump, line.wrapRegisters[i], line.wrapsKept[i]) || lea.ripTarget != resumesAt)
      return fail(line, at, "not the way to the runtime and back: " + text(lea) + "; " + text(jump)), false;
    m_places.push_back({at, 0, line.pc, line.wrapOrigins[i], 0});
    end = std::max(end, line.pc);
  }
  line.pc = end;
  return checkEntryLoad(line, behindBlocks);
}

}  // namespace traceback::truth
