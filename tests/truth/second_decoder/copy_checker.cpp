#include "tests/truth/second_decoder/copy_checker.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <format>
#include <tuple>

#include "runtime/format/record.h"
#include "runtime/format/ring.h"

namespace traceback::truth {

namespace {

constexpr std::size_t kMostFindings = 40;

}  // namespace

void Findings::add(std::string what) {
  if (wrong.size() < kMostFindings)
    wrong.push_back(std::move(what));
  else
    ++hidden;
}

CopyChecker::CopyChecker(const ElfFile& original, const InstrumentedFile& file, const FlagFlow& flags,
                         bool poisoned, Findings& findings)
    : m_original(original),
      m_file(file),
      m_findings(findings),
      m_flags(flags),
      m_poisoned(poisoned),
      m_routines(readRoutines(file, findings)) {}

void CopyChecker::fail(const Line& line, std::uint64_t at, const std::string& what) {
  if (m_broken.empty() || m_broken.back() != &line.function->entry) m_broken.push_back(&line.function->entry);
  m_findings.add(std::format("{} ({:#x}), copy at {:#x}: {}", line.function->name,
                             line.function->entry.original, at, what));
}

std::uint64_t CopyChecker::copyOf(std::uint64_t original) const {
  const auto found =
      std::ranges::lower_bound(m_copies, original, {}, &std::pair<std::uint64_t, std::uint64_t>::first);
  return found == m_copies.end() || found->first != original ? 0 : found->second;
}

bool CopyChecker::decode(const ElfFile& file, std::uint64_t at, std::uint64_t end, Code& out) {
  const auto bytes = file.at(at, std::min<std::uint64_t>(15, end - at));
  return bytes && !bytes->empty() && m_decoder.decode(*bytes, at, out);
}

bool CopyChecker::code(Line& line, Code& out) {
  if (line.pc < line.end && decode(m_file.elf, line.pc, line.end, out)) return true;
  fail(line, line.pc, "does not decode");
  return false;
}

bool CopyChecker::take(Line& line, Code& out) {
  if (!code(line, out)) return false;
  line.pc += out.size;
  return true;
}

std::pair<std::uint64_t, bool> CopyChecker::originOf(const InstrumentedFunction& function,
                                                     std::uint64_t at) const {
  auto after = std::ranges::upper_bound(function.addresses, at, {}, &format::AddressEntry::copy);
  if (after == function.addresses.begin()) return {0, false};
  const format::AddressEntry& entry = *std::prev(after);
  if ((entry.original & format::kAddressFixed) != 0) return {entry.original & ~format::kAddressFixed, true};
  return {entry.original + (at - entry.copy), false};
}

//   cmpq $0, bound(%rip); je displaced
// or, without flags, rcx being kept below the stack pointer:
//   mov %rcx, -8(%rsp); mov bound(%rip), %rcx; jrcxz unbound; mov -8(%rsp), %rcx; jmp inside
//   unbound: mov -8(%rsp), %rcx; jmp displaced; inside:
bool CopyChecker::checkGate(Line& line, std::uint64_t& displaced) {
  const std::uint64_t bound = m_file.module.moduleSlots + offsetof(format::ModuleSlots, bound);
  Code c, jump;
  if (!take(line, c)) return false;
  const auto refuse = [&] { return fail(line, c.address, "no gate: " + text(c)), false; };
  if (c.id == X86_INS_CMP) {
    if (c.imm != 0 || c.width != 8 || c.ripTarget != bound) return refuse();
    if (!take(line, jump) || jump.id != X86_INS_JE) return refuse();
    displaced = jump.target;
    return checkScratch(line, c.address, line.needs->front(), 0, true);
  }
  const auto keeps = [&](bool store) {
    return c.id == X86_INS_MOV && c.memoryFirst == store && c.base == X86_REG_RSP && c.disp == -8 &&
           (store ? c.reg1 : c.reg0) == X86_REG_RCX;
  };
  if (!keeps(true)) return refuse();
  if (!take(line, c) || c.id != X86_INS_MOV || c.reg0 != X86_REG_RCX || c.ripTarget != bound) return refuse();
  Code test, inside;
  if (!take(line, test) || test.id != X86_INS_JRCXZ || !take(line, c) || !keeps(false)) return refuse();
  if (!take(line, inside) || inside.id != X86_INS_JMP || test.target != line.pc) return refuse();
  if (!take(line, c) || !keeps(false) || !take(line, jump) || jump.id != X86_INS_JMP) return refuse();
  if (inside.target != line.pc) return refuse();
  displaced = jump.target;
  return true;
}

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

bool CopyChecker::isWayToWrap(const Code& lea, const Code& jump, unsigned reg, bool kept) const {
  const int number = registerNumber(reg);
  const std::size_t entries =
      kept ? offsetof(format::ModuleSlots, wrapKept) : offsetof(format::ModuleSlots, wrap);
  return lea.id == X86_INS_LEA && lea.reg0 == reg && jump.id == X86_INS_JMP && jump.ripOffset != 0 &&
         number >= 0 && jump.ripTarget == m_file.module.moduleSlots + entries + 8 * unsigned(number);
}

//   movq (reg), %xmm15, if control may come here with something else in it
//   paddq step(reg), %xmm15; movlps %xmm15, (reg); movq %xmm15, reg
bool CopyChecker::checkStep(Line& line, unsigned reg, std::uint64_t original) {
  Code c;
  const auto next = [&](unsigned id, bool good) {
    if (c.id == id && good) return true;
    return fail(line, c.address, "not a step of the cursor: " + text(c)), false;
  };
  if (!take(line, c)) return false;
  const bool loads = c.id == X86_INS_MOVQ;
  if (loads &&
      (!next(X86_INS_MOVQ, c.reg0 == X86_REG_XMM15 && c.base == reg && c.disp == 0) || !take(line, c)))
    return false;
  constexpr auto kStep = std::int64_t(offsetof(format::SegmentHeader, step));
  if (!next(X86_INS_PADDQ, c.reg0 == X86_REG_XMM15 && c.base == reg && c.disp == kStep) || !take(line, c))
    return false;
  if (!next(X86_INS_MOVLPS, c.memoryFirst && c.base == reg && c.disp == 0 && c.reg1 == X86_REG_XMM15) ||
      !take(line, c))
    return false;
  if (!next(X86_INS_MOVQ, c.reg0 == reg && c.reg1 == X86_REG_XMM15)) return false;
  const auto due = std::ranges::lower_bound(line.original, original, {}, &Code::address);
  const bool behindCall = due != line.original.begin() && std::prev(due)->effects.leaves == Leaves::Call;
  if (behindCall && !loads) return fail(line, c.address, "takes the cursor from xmm15 behind a call"), false;
  if (!loads) m_needCursor.insert(original);
  return true;
}

// Where copies enter that do not keep the cursor, and whoever comes by the gate:
//   mov %fs:slot, r; movq (r), %xmm15; with a spill and a restore if r is needed
bool CopyChecker::checkUnkeptEntry(Line& line) {
  const std::uint64_t start = line.pc;
  Code c, load;
  if (!code(line, c)) return false;
  const bool spills =
      c.id == X86_INS_MOV && c.memoryFirst && c.segment == X86_REG_FS && c.disp == format::kSpillSlot;
  const unsigned spilled = spills ? c.reg1 : 0U;
  if (spills) line.pc += c.size;
  if (!take(line, c) || c.id != X86_INS_MOV || c.segment != X86_REG_FS || c.memoryFirst ||
      c.disp != format::kThreadSlot || (spills && c.reg0 != spilled) || !take(line, load) ||
      load.id != X86_INS_MOVQ || load.reg0 != X86_REG_XMM15 || load.base != c.reg0 || load.disp != 0 ||
      !code(line, load) || load.id == X86_INS_PADDQ) {
    line.pc = start;
    return true;
  }
  if (spills) {
    if (load.id != X86_INS_MOV || load.memoryFirst || load.segment != X86_REG_FS || load.reg0 != spilled ||
        load.disp != format::kSpillSlot)
      return fail(line, load.address, "a register is not restored; instead: " + text(load)), false;
    line.pc += load.size;
  } else if (const int number = registerNumber(c.reg0);
             number < 0 ||
             !checkScratch(line, start, line.needs->front(), std::uint16_t(1U << unsigned(number)), false)) {
    return false;
  }
  m_unkeptEntries[line.original.front().address] = start;
  return checkKeeps(line, true);
}

bool CopyChecker::checkHead(Line& line, unsigned reg, std::uint64_t original) {
  Code c;
  if (!take(line, c)) return false;
  const auto is = [&](unsigned id) { return c.id == id; };
  std::uint64_t resumesAt = 0;
  const bool kept = is(X86_INS_MOVQ) || is(X86_INS_PADDQ);
  if (!checkKeeps(line, kept)) return false;
  if (kept) {
    line.pc = c.address;
    if (!checkStep(line, reg, original) || !take(line, c)) return false;
  }
  if (is(X86_INS_ADD) || is(X86_INS_CMP)) {  // flags are dead
    if (!kept) {
      if (!is(X86_INS_ADD) || !c.memoryFirst || c.base != reg || c.imm != 4 || c.width != 8)
        return fail(line, c.address, text(c)), false;
      if (!take(line, c) || !is(X86_INS_MOV) || c.reg0 != reg || c.base != reg)
        return fail(line, c.address, text(c)), false;
      if (!take(line, c)) return false;
    }
    if (!is(X86_INS_CMP) || c.base != reg || c.width != 4 || std::uint32_t(c.imm) != format::kSentinelWord)
      return fail(line, c.address, text(c)), false;
    if (!take(line, c) || !is(X86_INS_JE)) return fail(line, c.address, text(c)), false;
    line.wraps.emplace_back(c.target, line.pc);
    line.wrapRegisters.push_back(reg);
    line.wrapsKept.push_back(kept);
    line.wrapOrigins.push_back(original);
  } else {  // through rcx, with instructions that leave the flags alone
    const auto expect = [&](bool good) {
      if (!good) fail(line, c.address, "not a head probe: " + text(c));
      return good;
    };
    if (kept) {
      if (!expect(is(X86_INS_MOV) && c.reg0 == X86_REG_ECX && c.base == reg)) return false;
    } else {
      if (!expect(is(X86_INS_MOV) && c.reg0 == X86_REG_RCX && c.base == reg && c.width == 8)) return false;
      if (!take(line, c) ||
          !expect(is(X86_INS_LEA) && c.reg0 == X86_REG_RCX && c.base == X86_REG_RCX && c.disp == 4))
        return false;
      if (!take(line, c) ||
          !expect(is(X86_INS_MOV) && c.memoryFirst && c.base == reg && c.reg1 == X86_REG_RCX))
        return false;
      if (!take(line, c) || !expect(is(X86_INS_MOV) && c.reg0 == X86_REG_ECX && c.base == X86_REG_RCX))
        return false;
    }
    if (!take(line, c) || !expect(is(X86_INS_NOT) && c.reg0 == X86_REG_ECX)) return false;
    Code over, go;
    if (!take(line, over) || !take(line, go)) return false;
    if (over.id != X86_INS_JRCXZ || over.target != line.pc || go.id != X86_INS_JMP || !go.direct)
      return fail(line, over.address, text(over) + "; " + text(go)), false;
    Code lea, jump;
    if (!take(line, lea) || !take(line, jump)) return false;
    if (!isWayToWrap(lea, jump, reg, kept))
      return fail(line, lea.address, "not the way to the runtime: " + text(lea) + "; " + text(jump)), false;
    if (go.target != line.pc) return fail(line, go.address, "leads astray: " + text(go)), false;
    resumesAt = lea.ripTarget;
    if (!kept &&
        (!take(line, c) || !expect(is(X86_INS_MOV) && c.reg0 == reg && c.base == reg && c.width == 8)))
      return false;
    if (resumesAt != line.pc) return fail(line, lea.address, "the runtime comes back elsewhere"), false;
  }
  if (!take(line, c) || !is(X86_INS_MOV) || !c.memoryFirst || c.base != reg || c.width != 4)
    return fail(line, c.address, "no record is written: " + text(c)), false;
  return checkRecord(line, c, original);
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
// Behind calls alone, in functions that keep nothing below the stack pointer.
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
  const auto routine =
      loads && take(line, call) && call.id == X86_INS_CALL ? m_routines.find(call.target) : m_routines.end();
  if (routine == m_routines.end()) {
    line.pc = start;
    return true;
  }
  found = true;
  if (routine->second.record != unsigned(holder) || routine->second.restores != spills)
    return fail(line, call.address, "calls a record routine that expects something else"), false;
  if (!checkKeeps(line, routine->second.keeps)) return false;
  if (line.next == 0 || line.original[line.next - 1].effects.leaves != Leaves::Call)
    return fail(line, start, "calls a record routine where the word below the stack may be needed"), false;
  for (const Code& code : line.original)
    if (code.base == X86_REG_RSP && code.disp < 0)
      return fail(line, start, "calls a record routine, but keeps something there: " + text(code)), false;
  line.scratch = spills ? std::uint16_t{0} : std::uint16_t(1U << unsigned(holder));
  constexpr unsigned kR11 = 11;
  if (routine->second.scratch != kR11)
    line.scratch = std::uint16_t(line.scratch | 1U << routine->second.scratch);
  return checkScratch(line, start, needs, line.scratch, true) && checkRecord(line, c, original);
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
  const bool kept =
      c.id == X86_INS_MOVQ && c.reg1 == X86_REG_XMM15 && !c.memory && line.keeps.value_or(false);
  if (!kept &&
      (c.id != X86_INS_MOV || c.segment != X86_REG_FS || c.memoryFirst || c.disp != format::kThreadSlot)) {
    line.pc = start;
    return true;
  }
  found = true;
  const unsigned reg = c.reg0;
  std::set<unsigned> used{reg};
  const std::uint64_t core = line.pc;
  if (!kept && !take(line, c)) return false;
  if (kept || (c.id == X86_INS_MOV && !c.memoryFirst && c.reg0 == reg && c.base == reg)) {
    if (!checkKeeps(line, kept)) return false;
    if (!take(line, c)) return false;
    std::uint32_t mask = 0;
    if (c.id == X86_INS_OR && c.memoryFirst && c.base == reg && c.width == 4) {
      mask = std::uint32_t(c.imm);
    } else {
      Code lea, store;
      if (c.id != X86_INS_MOV || c.base != reg || c.width != 4)
        return fail(line, c.address, "not a probe: " + text(c)), false;
      if (!take(line, lea) || !take(line, store)) return false;
      if (lea.id != X86_INS_LEA || lea.reg0 != c.reg0 || store.id != X86_INS_MOV || !store.memoryFirst ||
          store.base != reg || store.reg1 != c.reg0 || store.width != 4)
        return fail(line, lea.address, "not a light probe: " + text(lea) + "; " + text(store)), false;
      mask = std::uint32_t(lea.disp);
      used.insert(lea.base);
    }
    if (kind != Probe::Light) return fail(line, start, "a light probe where a head may be"), false;
    if (!checkMask(line, c, original, mask)) return false;
  } else {
    line.pc = core;
    if (kind != Probe::Head) return fail(line, start, "a head where a light probe may be"), false;
    if (!checkHead(line, reg, original)) return false;
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

// Whether the branch's bit is set on its taken edge, by a probe that is no part of the block it leads to.
bool CopyChecker::setsBitOutOfLine(const Line& line, std::uint64_t branch, std::uint32_t& block) const {
  const auto found = line.withBit.find(branch);
  if (found == line.withBit.end()) return false;
  block = found->second;
  const auto& blocks = line.function->blocks;
  if ((blocks[block].flags & format::kBlockBitTaken) == 0) return false;
  const std::uint32_t to = blocks[block].successor[0];
  return to >= blocks.size() || (blocks[to].flags & format::kBlockHead) != 0 || line.predecessors[to] != 1;
}

void CopyChecker::transfer(Line& line, const Code& original, std::uint64_t from, std::uint64_t to,
                           bool mayStay) {
  if (!isReached(line, original.address)) return;  // wherever it leads: it is never executed in the copy
  std::uint32_t block = 0;
  if ((m_file.map.flags & format::kMapIsNull) == 0 && setsBitOutOfLine(line, original.address, block))
    line.takenEdges[block] = to;
  else
    m_obligations.push_back({from, to, original.target, mayStay, original.address, line.keeps.value_or(false),
                             passesHead(line, original)});
}

// Whether the map says that the record goes on where the jump or branch leads, past a head's probe.
bool CopyChecker::passesHead(const Line& line, const Code& jump) {
  const auto block = line.blockBefore.find(jump.address + jump.size);
  return block != line.blockBefore.end() && format::passesHead(line.function->blocks[block->second], 0);
}

// Null if there is none, or no probes are.
const format::BlockEntry* CopyChecker::headAt(const Line& line, std::uint64_t original) const {
  if ((m_file.map.flags & format::kMapIsNull) != 0) return nullptr;
  const auto at = line.blockAt.find(original);
  if (at == line.blockAt.end()) return nullptr;
  const format::BlockEntry& block = line.function->blocks[at->second];
  return (block.flags & format::kBlockHead) != 0 ? &block : nullptr;
}

// Whether control comes to the instruction that is due from the one in front of it.
bool CopyChecker::fallsOnFromAbove(const Line& line) {
  if (line.next == 0) return false;
  const Code& above = line.original[line.next - 1];
  return !endsFlow(above.id) && isReached(line, above.address);
}

// A jump past the probe that stands in front of the instruction, and stands for just that one itself.
bool CopyChecker::checkPassing(Line& line, std::uint64_t original, bool& found) {
  found = false;
  const auto [origin, fixed] = originOf(*line.function, line.pc);
  Code jump;
  if (origin != original || fixed || !code(line, jump) || jump.id != X86_INS_JMP || !jump.direct) return true;
  found = true;
  line.pc += jump.size;
  m_obligations.push_back({jump.address, jump.target, original, false, 0, line.keeps.value_or(false), true});
  m_places.push_back({jump.address, 0, line.pc, original, 0});
  return true;
}

// In front of an instruction: the probe of a branch that leads there when taken. Nothing else may.
bool CopyChecker::checkProbeOfBranchTo(Line& line, std::uint64_t branch, const Code& target) {
  const auto& blocks = line.function->blocks;
  const auto from = line.withBit.find(branch);
  const auto to = line.blockAt.find(target.address);
  std::uint32_t block = 0;
  if (from == line.withBit.end() || to == line.blockAt.end() || setsBitOutOfLine(line, branch, block) ||
      (blocks[from->second].flags & format::kBlockBitTaken) == 0 ||
      blocks[from->second].successor[0] != to->second)
    return fail(line, line.pc,
                std::format("stands for {:#x}, but {:#x} is due ({})", branch, target.address, text(target))),
           false;
  if (line.next == 0 ||
      (!endsFlow(line.original[line.next - 1].id) && isReached(line, line.original[line.next - 1].address)))
    return fail(line, line.pc, "control also comes from above to where a branch's bit is set"), false;
  m_onlyBy[target.address] = branch;
  const std::uint64_t start = line.pc;
  bool found = false;
  if (!checkProbe(line, Probe::Light, branch, (*line.needs)[line.next], found)) return false;
  if (!found) return fail(line, start, "no probe"), false;
  m_places.push_back({start, 0, line.pc, branch, 0, line.scratch, true});
  return true;
}

// Behind a branch: its probe, if its bit says that it was not taken.
bool CopyChecker::checkProbeBehind(Line& line, const Code& branch) {
  const auto block = line.withBit.find(branch.address);
  if (block == line.withBit.end() || (m_file.map.flags & format::kMapIsNull) != 0 ||
      (line.function->blocks[block->second].flags & format::kBlockBitTaken) != 0)
    return true;
  const auto [origin, fixed] = originOf(*line.function, line.pc);
  if (origin != branch.address || !fixed) return fail(line, line.pc, "no probe behind the branch"), false;
  const std::uint64_t start = line.pc;
  const Needs all{0xFFFF, kStatusFlags};
  bool found = false;
  line.scratch = 0;
  if (!checkProbe(line, Probe::Light, branch.address,
                  line.next + 1 < line.needs->size() ? (*line.needs)[line.next + 1] : all, found))
    return false;
  if (!found) return fail(line, start, "no probe behind the branch"), false;
  m_places.push_back({start, 0, line.pc, branch.address, 0, line.scratch, true});
  return true;
}

// Behind all blocks: a probe for each branch that leads there, and a jump to where the branch led.
bool CopyChecker::checkTakenEdges(Line& line) {
  const std::uint64_t behindBlocks = line.pc;
  std::uint64_t end = behindBlocks;
  for (const auto& [index, at] : line.takenEdges) {
    const format::BlockEntry& block = line.function->blocks[index];
    const auto branch = std::ranges::find_if(line.original, [&](const Code& code) {
      return code.address + code.size == block.start + block.size;
    });
    if (at < behindBlocks || branch == line.original.end())
      return fail(line, at, "a branch's probe is among the blocks"), false;
    const auto [origin, fixed] = originOf(*line.function, at);
    if (origin != branch->address || !fixed)
      return fail(line, at, "a branch's probe stands for something else"), false;
    const auto target = std::ranges::lower_bound(line.original, branch->target, {}, &Code::address);
    const bool within = target != line.original.end() && target->address == branch->target;
    const Needs all{0xFFFF, kStatusFlags};
    line.pc = at;
    line.scratch = 0;
    bool found = false;
    if (!checkProbe(line, Probe::Light, branch->address,
                    within ? (*line.needs)[std::size_t(target - line.original.begin())] : all, found))
      return false;
    Code jump;
    if (!found || !take(line, jump)) return fail(line, at, "no probe where a branch leads"), false;
    if (jump.id != X86_INS_JMP || !jump.direct)
      return fail(line, jump.address, "does not go on: " + text(jump)), false;
    const format::FunctionEntry& entry = line.function->entry;
    const bool inside =
        branch->target >= entry.original && branch->target - entry.original < entry.originalSize;
    m_obligations.push_back({jump.address, jump.target, branch->target, !inside, branch->address,
                             line.keeps.value_or(false), passesHead(line, *branch)});
    m_places.push_back({at, 0, line.pc, branch->address, 0, line.scratch, true});
    end = std::max(end, line.pc);
  }
  line.pc = end;
  return true;
}

// Behind those: the probes of heads that are not among the blocks, each with a jump to its block.
bool CopyChecker::checkHeadsApart(Line& line) {
  for (std::size_t left = line.headsApart.size(); left > 0; --left) {
    const auto [origin, fixed] = originOf(*line.function, line.pc);
    const auto block = line.blockAt.find(origin);
    const auto awaited =
        block == line.blockAt.end() ? line.headsApart.end() : line.headsApart.find(block->second);
    const auto original = std::ranges::lower_bound(line.original, origin, {}, &Code::address);
    if (!fixed || awaited == line.headsApart.end() || original == line.original.end())
      return fail(line, line.pc, "the probe of a head is missing"), false;
    const std::uint64_t start = line.pc;
    line.next = std::size_t(original - line.original.begin());
    line.scratch = 0;
    bool found = false;
    if (!checkProbe(line, Probe::Head, origin, (*line.needs)[line.next], found)) return false;
    if (!found) return fail(line, start, "the probe of a head is missing"), false;
    m_copies[awaited->second].second = start;
    m_places.push_back({start, 0, line.pc, origin, 0, line.scratch});
    if (!checkPassing(line, origin, found)) return false;
    if (!found) return fail(line, line.pc, "a head's probe does not lead to its block"), false;
    line.headsApart.erase(awaited);
  }
  line.next = line.original.size();
  return true;
}

//   op take; jmp next; take: jmp target; next:
bool CopyChecker::checkShortBranch(Line& line, const Code& original, bool exactly) {
  Code op, over, jump;
  if (!take(line, op) || !take(line, over) || !take(line, jump)) return false;
  if (op.id != original.id || op.target != jump.address || over.id != X86_INS_JMP || over.target != line.pc ||
      jump.id != X86_INS_JMP || !jump.direct)
    return fail(line, op.address, "not a short branch made long: " + text(op)), false;
  if (exactly)
    m_obligations.push_back({jump.address, jump.target, original.target, true, original.address});
  else
    transfer(line, original, jump.address, jump.target, false);
  return true;
}

bool CopyChecker::checkInstruction(Line& line, const Code& original, bool exactly) {
  ++m_findings.instructions;
  if (original.direct && isShortOnly(original.id)) return checkShortBranch(line, original, exactly);
  Code copy;
  if (!take(line, copy)) return false;
  const format::FunctionEntry& entry = line.function->entry;
  if (original.direct) {
    if (copy.id != original.id || !copy.direct)
      return fail(line, copy.address, std::format("{} instead of {}", text(copy), text(original))), false;
    const bool within =
        original.target >= entry.original && original.target - entry.original < entry.originalSize;
    if (exactly && copy.target != original.target) {
      // Displaced code runs before the runtime, so it must stay with the original.
      return fail(line, copy.address, std::format("{} instead of {}", text(copy), text(original))), false;
    }
    if (!exactly) transfer(line, original, copy.address, copy.target, !within);
    return true;
  }
  if (copy.size != original.size)
    return fail(line, copy.address, std::format("{} instead of {}", text(copy), text(original))), false;
  for (unsigned i = 0; i < original.size; ++i) {
    const bool displacement =
        original.ripOffset != 0 && i >= original.ripOffset && i < original.ripOffset + 4;
    if (!displacement && copy.bytes[i] != original.bytes[i])
      return fail(line, copy.address, std::format("{} instead of {}", text(copy), text(original))), false;
  }
  if (original.ripOffset != 0 &&
      (copy.ripOffset != original.ripOffset || copy.ripTarget != original.ripTarget))
    return fail(line, copy.address, std::format("{} leads elsewhere than {}", text(copy), text(original))),
           false;
  return true;
}

// The lookup that stands for an indirect jump (its form is checked by what it must contain: the lowest
// target, the table, for each table, and the original jump as the way out), and its tables.
bool CopyChecker::checkDispatch(Line& line, const Code& original, bool& found) {
  found = false;
  Code c;
  if (!code(line, c)) return false;
  if (!(c.id == X86_INS_MOV && c.memoryFirst && c.segment == X86_REG_FS && c.disp == format::kSpillSlot))
    return true;
  found = true;
  ++m_findings.dispatches;
  std::vector<std::uint64_t> leas;
  std::vector<Line::Table> tables;
  constexpr int kMost = 4096;
  for (int i = 0; i < kMost; ++i) {
    const std::uint64_t at = line.pc;
    if (!take(line, c)) return false;
    if (c.id == X86_INS_LEA && c.ripOffset != 0) leas.push_back(c.ripTarget);
    if (c.id == X86_INS_CMP && c.reg0 == X86_REG_RCX) tables.push_back({0, c.imm, 0, 0});
    if (c.id == X86_INS_MOVZX && c.reg0 == X86_REG_ECX && !tables.empty()) tables.back().indexSize = c.width;
    if (c.id == X86_INS_MOVSXD && c.reg0 == X86_REG_RCX && !tables.empty()) tables.back().distances = c.disp;
    if (c.id == X86_INS_JMP && !c.direct) {
      const bool isOriginal = at + c.size <= line.end && c.size == original.size && leas.size() >= 2 &&
                              originOf(*line.function, at).first == original.address &&
                              (c.ripOffset == 0 ? std::ranges::equal(c.code(), original.code())
                                                : c.ripTarget == original.ripTarget);
      const auto [following, fixed] = originOf(*line.function, line.pc);
      // The last of the jumps is the original one, the others go to copies.
      const bool last = isOriginal && line.pc == line.end;
      if (last || (isOriginal && (following != original.address || !fixed))) break;
    }
    if (i == kMost - 1) return fail(line, at, "an indirect jump's lookup has no end"), false;
  }
  const auto good = [](const Line::Table& table) {
    const std::uint64_t index = (table.range * table.indexSize + 3) / 4 * 4;
    return table.range != 0 && (table.indexSize == 1 || table.indexSize == 2) &&
           table.distances + 4 == std::int64_t(index);
  };
  if (leas.size() != 2 * tables.size() || tables.empty() || !std::ranges::all_of(tables, good))
    return fail(line, line.pc, "an indirect jump's lookup is not understood"), false;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    tables[i].lowest = leas[2 * i];
    line.tables[leas[2 * i + 1]] = tables[i];
  }
  return true;
}

// Of a head whose probe is elsewhere.
bool CopyChecker::checkFallsPast(const Line& line, std::uint64_t head) {
  const auto above = line.blockBefore.find(head);
  if (above != line.blockBefore.end()) {
    const format::BlockEntry& block = line.function->blocks[above->second];
    if (format::passesHead(block, block.end == format::BlockEnd::Branch ? 1 : 0)) return true;
  }
  return fail(line, line.pc, "control comes here without the probe that is due"), false;
}

bool CopyChecker::checkBlocks(Line& line) {
  while (line.next < line.original.size()) {
    const Code& original = line.original[line.next];
    const std::uint64_t front = line.pc;
    line.scratch = 0;
    auto [origin, fixed] = originOf(*line.function, line.pc);
    if (origin != original.address) {
      if (!fixed || !checkProbeOfBranchTo(line, origin, original)) {
        if (!fixed)
          fail(line, front,
               std::format("stands for {:#x}, but {:#x} is due ({})", origin, original.address,
                           text(original)));
        return false;
      }
      std::tie(origin, fixed) = originOf(*line.function, line.pc);
      if (origin != original.address) return fail(line, line.pc, "stands for something else"), false;
    }
    const format::BlockEntry* head = headAt(line, original.address);
    bool passing = false;
    if (head != nullptr && fallsOnFromAbove(line)) {
      const auto above = line.blockBefore.find(original.address);
      const bool mustPass =
          above != line.blockBefore.end() &&
          format::passesHead(line.function->blocks[above->second],
                             line.function->blocks[above->second].end == format::BlockEnd::Branch ? 1 : 0);
      if (mustPass && !checkPassing(line, original.address, passing)) return false;
      fixed = originOf(*line.function, line.pc).second;
    }
    const std::uint64_t start = line.pc;
    bool probe = false, dispatch = false;
    line.scratch = 0;
    // At the start of a block only may a probe be.
    if (fixed && !checkProbe(line, Probe::Head, origin, (*line.needs)[line.next], probe)) return false;
    if (passing && !probe) return fail(line, start, "a jump past a probe that is not there"), false;
    if (head != nullptr && !probe) {
      line.headsApart[std::uint32_t(head - line.function->blocks.data())] = m_copies.size();
      if (fallsOnFromAbove(line) && !checkFallsPast(line, original.address)) return false;
    }
    if (head != nullptr) m_behindHeads[original.address] = line.pc;
    m_copies.emplace_back(original.address, passing ? start : front);
    const std::uint64_t itself = line.pc;
    const bool indirect = original.id == X86_INS_JMP && !original.direct;
    if (indirect && !checkDispatch(line, original, dispatch)) return false;
    if (dispatch) {
      ++m_findings.instructions;
    } else {
      const auto [self, stillFixed] = originOf(*line.function, line.pc);
      if (self != original.address || (stillFixed && !original.direct))
        return fail(line, line.pc, std::format("stands for {:#x}, but is {:#x}", self, original.address)),
               false;
      if (!checkInstruction(line, original, false)) return false;
    }
    m_places.push_back({start, itself, line.pc, original.address, original.size, line.scratch});
    if (!checkProbeBehind(line, original)) return false;
    ++line.next;
  }
  const Code& last = line.original.back();
  if (endsFlow(last.id)) return true;
  Code c;  // runs past its end: on in the original
  const std::uint64_t end = line.function->entry.original + line.function->entry.originalSize;
  if (!code(line, c)) return false;
  if (c.id == X86_INS_JMP && c.direct) {
    line.pc += c.size;
    const bool behindCall = last.effects.leaves == Leaves::Call;
    m_obligations.push_back({c.address, c.target, end, true, 0, line.keeps.value_or(false) && !behindCall});
    m_places.push_back({c.address, 0, line.pc, last.address, last.size});
  } else if (!(last.id == X86_INS_CALL)) {
    return fail(line, c.address, "the copy runs past its end"), false;
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
  return true;
}

// What the entry's jump overwrote, and a jump to the rest.
bool CopyChecker::checkDisplaced(Line& line, std::uint64_t displaced, std::uint64_t window) {
  line.pc = displaced;
  const Code* last = nullptr;
  for (const Code& original : line.original) {
    if (original.address < window || original.address >= window + 5) continue;
    const std::uint64_t start = line.pc;
    if (!checkInstruction(line, original, true)) return false;
    m_places.push_back({start, start, line.pc, original.address, original.size});
    last = &original;
  }
  if (last == nullptr) return fail(line, displaced, "nothing is displaced"), false;
  const std::uint64_t rest = last->address + last->size;
  if (endsFlow(last->id)) return true;
  Code jump;
  if (!take(line, jump)) return false;
  if (jump.id != X86_INS_JMP || jump.target != rest)
    return fail(line, jump.address, std::format("does not go on at {:#x}: {}", rest, text(jump))), false;
  m_places.push_back({jump.address, 0, line.pc, last->address, last->size});
  return true;
}

bool CopyChecker::checkTables(Line& line) {
  for (const auto& [at, table] : line.tables) {
    const auto index = m_file.elf.at(at, table.range * table.indexSize);
    if (!index) return fail(line, at, "a table outside of the file"), false;
    std::uint32_t targets = 0;
    for (std::uint64_t i = 0; i < table.range; ++i) {
      std::uint16_t number = 0;
      std::memcpy(&number, index->data() + i * table.indexSize, table.indexSize);
      if (number == 0) continue;
      if (number != ++targets) return fail(line, at, "a table whose targets are not in order"), false;
      const std::uint64_t place = at + std::uint64_t(table.distances) + 4 * std::uint64_t{number};
      const auto bytes = m_file.elf.at(place, 4);
      if (!bytes) return fail(line, at, "a table outside of the file"), false;
      std::int32_t distance = 0;
      std::memcpy(&distance, bytes->data(), sizeof distance);
      m_obligations.push_back({place, at + std::uint64_t(std::int64_t(distance)), table.lowest + i, false, 0,
                               line.keeps.value_or(false)});
    }
    if (targets == 0) return fail(line, at, "an empty table"), false;
  }
  return true;
}

void CopyChecker::checkCompleteness(Line& line) {
  if ((m_file.map.flags & format::kMapIsNull) != 0) return;
  const InstrumentedFunction& function = *line.function;
  for (std::uint32_t i = 0; i < function.dags.size(); ++i) {
    const format::DagEntry& dag = function.dags[i];
    if (!line.headsSeen.contains(i))
      fail(line, function.entry.copy,
           std::format("no head for the DAG at {:#x}", function.blocks[dag.firstBlock].start));
  }
  for (std::uint32_t b = 0; b < function.blocks.size(); ++b)
    if (function.blocks[b].bit != format::kNoBit && !line.lightsSeen.contains(b))
      fail(line, function.entry.copy,
           std::format("no probe for the branch of the block at {:#x}", function.blocks[b].start));
  checkBits(line);
  checkReached(line);
}

bool CopyChecker::isReached(const Line& line, std::uint64_t address) {
  const auto after = line.sizeOf.upper_bound(address);
  return after != line.sizeOf.begin() && address < std::prev(after)->first + std::prev(after)->second;
}

// The map leaves out what nothing leads to; so nothing that it has may.
void CopyChecker::checkReached(const Line& line) {
  for (std::size_t i = 0; i < line.original.size(); ++i) {
    const Effects& effects = line.original[i].effects;
    if (!isReached(line, effects.address)) continue;
    const auto leadsTo = [&](std::uint64_t address) {
      const auto to = std::ranges::lower_bound(line.original, address, {}, &Code::address);
      if (to == line.original.end() || to->address != address || isReached(line, address)) return;
      fail(line, line.function->entry.copy,
           std::format("{:#x} leads to {:#x}, where the map has no block", effects.address, address));
    };
    if (effects.leaves != Leaves::Call && effects.target != 0) leadsTo(effects.target);
    const bool mayStop = line.original[i].id == X86_INS_UD2 || line.original[i].id == X86_INS_HLT;
    if (effects.falls || effects.leaves == Leaves::Call || (effects.leaves == Leaves::Other && !mayStop))
      leadsTo(effects.address + effects.size);
  }
}

// That no two paths of a DAG have the same bits: each branch within it has one of its own, above those that
// may follow it.
void CopyChecker::checkBits(const Line& line) {
  const InstrumentedFunction& function = *line.function;
  std::vector<unsigned> above(function.blocks.size());
  for (std::size_t b = function.blocks.size(); b-- > 0;) {
    const format::BlockEntry& block = function.blocks[b];
    const bool goesOn = block.end == format::BlockEnd::FallThrough || block.end == format::BlockEnd::Jump ||
                        block.end == format::BlockEnd::Branch;
    bool inside = false;
    for (unsigned edge = 0; edge < 2; ++edge) {
      const std::uint32_t next = block.successor[edge];
      if (!goesOn || next >= function.blocks.size() ||
          ((function.blocks[next].flags & format::kBlockHead) != 0 && !format::passesHead(block, edge)))
        continue;
      inside = true;
      if (next <= b) return fail(line, function.entry.copy, "its blocks are not in order");
      above[b] = std::max(above[b], above[next]);
    }
    if (block.end != format::BlockEnd::Branch) continue;
    if (block.bit != format::kNoBit) {
      if (block.bit < above[b])
        return fail(line, function.entry.copy,
                    std::format("the branch of the block at {:#x} shares its bit", block.start));
      above[b] = block.bit + 1U;
    } else if (inside && block.successor[0] != block.successor[1]) {
      return fail(line, function.entry.copy,
                  std::format("the branch of the block at {:#x} has no bit", block.start));
    }
  }
  for (const format::DagEntry& dag : function.dags)
    if (above[dag.firstBlock] > dag.bits)
      fail(line, function.entry.copy,
           std::format("the DAG at {:#x} has too few bits", function.blocks[dag.firstBlock].start));
}

// Whether the entry leads to the gate, and whether nothing else can come into the five bytes that this took.
bool CopyChecker::checkWindow(Line& line, std::uint64_t window) {
  const format::FunctionEntry& entry = line.function->entry;
  const auto after = m_file.elf.at(window, 5);
  if (!after) return false;
  std::int32_t distance = 0;
  std::memcpy(&distance, after->data() + 1, 4);
  if ((*after)[0] != 0xE9 || window + 5 + std::uint64_t(std::int64_t(distance)) != entry.copy) return false;
  ++m_findings.windows;
  m_windows.push_back(window);
  const auto& targets = m_flags.jumpTargets();
  const auto inside = std::ranges::upper_bound(targets, window);
  if (inside != targets.end() && *inside < window + 5)
    fail(line, window, std::format("a jump leads to {:#x}, into the entry's jump", *inside));
  // What lies behind the function must be padding.
  for (std::uint64_t at = entry.original + entry.originalSize; at < window + 5;) {
    Code code;
    if (!decode(m_original, at, at + 15, code) || (code.id != X86_INS_NOP && code.id != X86_INS_INT3)) {
      fail(line, window, std::format("the entry's jump overwrites {:#x}, behind the function", at));
      break;
    }
    at += code.size;
  }
  for (auto next = std::next(line.function);
       next != m_file.functions.data() + m_file.functions.size() && next->entry.original < window + 5; ++next)
    if (next->entry.originalSize != 0)
      fail(line, window,
           std::format("the entry's jump overwrites {:#x}, another function's", next->entry.original));
  return true;
}

void CopyChecker::check(std::size_t index) {
  const InstrumentedFunction& function = m_file.functions[index];
  const format::FunctionEntry& entry = function.entry;
  m_places.clear();
  if (entry.copy == 0) return;
  ++m_findings.functions;
  Line line;
  line.function = &function;
  line.pc = entry.copy;
  line.end = entry.copy + entry.copySize;
  line.needs = &m_flags.needs(index);
  for (std::uint64_t at = entry.original; at < entry.original + entry.originalSize;) {
    Code& code = line.original.emplace_back();
    if (!decode(m_original, at, entry.original + entry.originalSize, code))
      return fail(line, at, "the original does not decode there, and yet has a copy");
    at += code.size;
  }
  if (line.original.empty() || line.needs->size() != line.original.size())
    return fail(line, line.pc, "a copy of nothing");
  line.predecessors.resize(function.blocks.size());
  for (std::uint32_t i = 0; i < function.blocks.size(); ++i) {
    const format::BlockEntry& block = function.blocks[i];
    line.blockAt[block.start] = i;
    line.blockBefore[block.start + block.size] = i;
    line.sizeOf[block.start] = block.size;
    for (unsigned k = 0; k < 2; ++k)
      if (block.successor[k] < function.blocks.size() && (k == 0 || block.successor[1] != block.successor[0]))
        ++line.predecessors[block.successor[k]];
    if (block.bit == format::kNoBit) continue;
    const auto behind = std::ranges::lower_bound(line.original, block.start + block.size, {}, &Code::address);
    if (behind == line.original.begin()) return fail(line, line.pc, "a block without instructions");
    line.withBit[std::prev(behind)->address] = i;
  }
  for (std::uint32_t i = 0; i < function.dags.size(); ++i) {
    if (function.dags[i].firstBlock >= function.blocks.size())
      return fail(line, line.pc, "a DAG without blocks");
    line.dagOfWord[format::dagRecord(m_file.module.codeBase + function.dags[i].code)] = i;
  }
  const std::uint64_t window = entry.original + (line.original[0].id == X86_INS_ENDBR64 ? 4 : 0);
  const bool patched = checkWindow(line, window);
  std::uint64_t displaced = 0;
  const bool gated = patched && !m_poisoned;
  if (gated && !checkGate(line, displaced)) return;
  if ((m_file.map.flags & format::kMapIsNull) == 0 && !checkUnkeptEntry(line)) return;
  if (line.pc != entry.copy)
    m_places.push_back({entry.copy, 0, line.pc, line.original[0].address, line.original[0].size, 0, !gated});
  if (!checkBlocks(line) || !checkTakenEdges(line) || !checkHeadsApart(line) || !checkWraps(line) ||
      (gated && !checkDisplaced(line, displaced, window)) || !checkTables(line))
    return;
  if (gated && needsCursor(line.original[0].address) && !m_unkeptEntries.contains(line.original[0].address))
    fail(line, entry.copy, "the gate leads where the cursor must be in xmm15");
  if (line.keeps.value_or(false)) m_keepers[entry.original] = entry.original + entry.originalSize;
  checkCompleteness(line);
  std::ranges::sort(m_places, {}, &CopiedPlace::start);
}

bool CopyChecker::isWithinKeeper(std::uint64_t original) const {
  const auto after = m_keepers.upper_bound(original);
  return after != m_keepers.begin() && original < std::prev(after)->second;
}

void CopyChecker::checkObligations() {
  for (const Obligation& due : m_obligations) {
    std::uint64_t copy = copyOf(due.original);
    if (due.passesHead) {
      const auto behind = m_behindHeads.find(due.original);
      copy = behind == m_behindHeads.end() ? 0 : behind->second;
    }
    if (copy != 0 && !due.keeps) {
      // There must be a way in that brings the cursor, or no need of it.
      const auto entry = m_unkeptEntries.find(due.original);
      if (entry != m_unkeptEntries.end()) {
        copy = entry->second;
      } else if (isWithinKeeper(due.original) && due.to == copy) {
        m_findings.add(std::format("at {:#x}: leads to {:#x}, which needs the cursor", due.from, due.to));
      }
    }
    if (const auto only = m_onlyBy.find(due.original);
        only != m_onlyBy.end() && only->second != due.by && due.to == copy)
      m_findings.add(std::format("at {:#x}: leads to {:#x}, where the bit of the branch at {:#x} is set",
                                 due.from, due.to, only->second));
    if (copy != 0 && copy == due.to) continue;
    if (due.mayStay && due.to == due.original) continue;
    // The walk over a copy ends where it is wrong: what is behind that has no known place.
    if (copy == 0 && std::ranges::any_of(m_broken, [&due](const format::FunctionEntry* entry) {
          return due.original - entry->original < entry->originalSize;
        }))
      continue;
    m_findings.add(
        std::format("at {:#x}: leads to {:#x}, not to the copy of {:#x}", due.from, due.to, due.original));
  }
}

}  // namespace traceback::truth
