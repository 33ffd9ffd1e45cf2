#include "tests/truth/second_decoder/copy_checker.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <format>

#include "runtime/format/record.h"
#include "runtime/format/ring.h"

namespace traceback::truth {

namespace {

constexpr std::size_t kMostFindings = 40;

bool isShortOnly(unsigned id) {
  return id == X86_INS_JRCXZ || id == X86_INS_JECXZ || id == X86_INS_LOOP || id == X86_INS_LOOPE ||
         id == X86_INS_LOOPNE;
}

bool endsFlow(unsigned id) {
  return id == X86_INS_JMP || id == X86_INS_RET || id == X86_INS_RETF || id == X86_INS_UD2 ||
         id == X86_INS_HLT || id == X86_INS_INT3;
}

}  // namespace

CopyChecker::CopyChecker(const ElfFile& original, const InstrumentedFile& file, Findings& findings)
    : m_original(original), m_file(file), m_findings(findings) {
  cs_open(CS_ARCH_X86, CS_MODE_64, &m_capstone);
  cs_option(m_capstone, CS_OPT_DETAIL, CS_OPT_ON);
}

CopyChecker::~CopyChecker() { cs_close(&m_capstone); }

void CopyChecker::fail(const Line& line, std::uint64_t at, const std::string& what) {
  if (m_findings.wrong.size() < kMostFindings)
    m_findings.wrong.push_back(std::format("{} ({:#x}), copy at {:#x}: {}", line.function->name,
                                           line.function->entry.original, at, what));
}

bool CopyChecker::decode(const ElfFile& file, std::uint64_t at, std::uint64_t end, Code& out) {
  const auto bytes = file.at(at, std::min<std::uint64_t>(15, end - at));
  if (!bytes || bytes->empty()) return false;
  cs_insn* insn = nullptr;
  if (cs_disasm(m_capstone, bytes->data(), bytes->size(), at, 1, &insn) != 1) return false;
  out = {};
  out.address = at;
  out.size = insn->size;
  out.bytes.assign(insn->bytes, insn->bytes + insn->size);
  out.id = insn->id;
  out.text = std::format("{} {}", insn->mnemonic, insn->op_str);
  const cs_x86& x86 = insn->detail->x86;
  for (unsigned i = 0; i < x86.op_count; ++i) {
    const cs_x86_op& operand = x86.operands[i];
    if (operand.type == X86_OP_IMM) {
      out.imm = std::uint64_t(operand.imm);
    } else if (operand.type == X86_OP_REG) {
      (i == 0 ? out.reg0 : out.reg1) = operand.reg;
    } else if (operand.type == X86_OP_MEM) {
      out.memory = true;
      out.memoryFirst = i == 0;
      out.base = operand.mem.base;
      out.segment = operand.mem.segment;
      out.disp = operand.mem.disp;
      out.width = operand.size;
      if (operand.mem.base == X86_REG_RIP) {
        out.ripTarget = at + insn->size + std::uint64_t(operand.mem.disp);
        out.ripOffset = x86.encoding.disp_offset;
      }
      if (operand.mem.index != X86_REG_INVALID) out.base = X86_REG_INVALID;
    }
  }
  const bool branch = cs_insn_group(m_capstone, insn, CS_GRP_JUMP) ||
                      cs_insn_group(m_capstone, insn, CS_GRP_CALL) || isShortOnly(insn->id);
  if (branch && x86.op_count == 1 && x86.operands[0].type == X86_OP_IMM) {
    out.direct = true;
    out.target = out.imm;
  }
  out.effects = effectsOf(m_capstone, *insn);
  cs_free(insn, 1);
  return true;
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
  const auto refuse = [&] { return fail(line, c.address, "no gate: " + c.text), false; };
  if (c.id == X86_INS_CMP) {
    if (c.imm != 0 || c.width != 8 || c.ripTarget != bound) return refuse();
    if (!take(line, jump) || jump.id != X86_INS_JE) return refuse();
    displaced = jump.target;
    return checkScratch(line, c.address, 0, true);
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

// What a probe changes must not be needed by the instruction that is due, or by what follows it.
bool CopyChecker::checkScratch(const Line& line, std::uint64_t at, std::uint16_t written, bool flagsWritten) {
  const Needs& needs = line.needs[line.next];
  if ((needs.registers & written) != 0)
    return fail(line, at,
                std::format("uses registers {:#x}, of which {:#x} are needed at {:#x}", written,
                            needs.registers & written, line.original[line.next].address)),
           false;
  if (flagsWritten && needs.flags != 0)
    return fail(
               line, at,
               std::format("changes the flags, which are needed at {:#x}", line.original[line.next].address)),
           false;
  return true;
}

bool CopyChecker::checkHead(Line& line, unsigned reg, std::uint64_t original) {
  Code c;
  if (!take(line, c)) return false;
  const auto is = [&](unsigned id) { return c.id == id; };
  std::uint64_t resumesAt = 0;
  if (is(X86_INS_ADD)) {  // flags are dead
    if (!c.memoryFirst || c.base != reg || c.imm != 4 || c.width != 8)
      return fail(line, c.address, c.text), false;
    if (!take(line, c) || !is(X86_INS_MOV) || c.reg0 != reg || c.base != reg)
      return fail(line, c.address, c.text), false;
    if (!take(line, c) || !is(X86_INS_CMP) || c.base != reg || c.width != 4 ||
        std::uint32_t(c.imm) != format::kSentinelWord)
      return fail(line, c.address, c.text), false;
    if (!take(line, c) || !is(X86_INS_JE)) return fail(line, c.address, c.text), false;
    line.wraps.emplace_back(c.target, line.pc);
    line.wrapRegisters.push_back(reg);
  } else {  // through rcx, with instructions that leave the flags alone
    const auto expect = [&](bool good) {
      if (!good) fail(line, c.address, "not a head probe: " + c.text);
      return good;
    };
    if (!expect(is(X86_INS_MOV) && c.reg0 == X86_REG_RCX && c.base == reg && c.width == 8)) return false;
    if (!take(line, c) ||
        !expect(is(X86_INS_LEA) && c.reg0 == X86_REG_RCX && c.base == X86_REG_RCX && c.disp == 4))
      return false;
    if (!take(line, c) || !expect(is(X86_INS_MOV) && c.memoryFirst && c.base == reg && c.reg1 == X86_REG_RCX))
      return false;
    if (!take(line, c) || !expect(is(X86_INS_MOV) && c.reg0 == X86_REG_ECX && c.base == X86_REG_RCX))
      return false;
    if (!take(line, c) || !expect(is(X86_INS_NOT) && c.reg0 == X86_REG_ECX)) return false;
    Code over, go;
    if (!take(line, over) || !take(line, go)) return false;
    if (over.id != X86_INS_JRCXZ || over.target != line.pc || go.id != X86_INS_JMP || !go.direct)
      return fail(line, over.address, over.text + "; " + go.text), false;
    Code lea, jump;
    if (!take(line, lea) || !take(line, jump)) return false;
    const int number = registerNumber(reg);
    if (lea.id != X86_INS_LEA || lea.reg0 != reg || jump.id != X86_INS_JMP || jump.ripOffset == 0 ||
        number < 0 ||
        jump.ripTarget !=
            m_file.module.moduleSlots + offsetof(format::ModuleSlots, wrap) + 8 * unsigned(number))
      return fail(line, lea.address, "not the way to the runtime: " + lea.text + "; " + jump.text), false;
    if (go.target != line.pc) return fail(line, go.address, "leads astray: " + go.text), false;
    resumesAt = lea.ripTarget;
    if (!take(line, c) || !expect(is(X86_INS_MOV) && c.reg0 == reg && c.base == reg && c.width == 8))
      return false;
    if (resumesAt != line.pc) return fail(line, lea.address, "the runtime comes back elsewhere"), false;
  }
  if (!take(line, c) || !is(X86_INS_MOV) || !c.memoryFirst || c.base != reg || c.width != 4)
    return fail(line, c.address, "no record is written: " + c.text), false;
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

// Spills, one core, restores of the same registers. `found` says whether there is any probe here.
bool CopyChecker::checkProbe(Line& line, std::uint64_t original, bool& found) {
  found = false;
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
  if (c.id != X86_INS_MOV || c.segment != X86_REG_FS || c.memoryFirst || c.disp != format::kThreadSlot) {
    line.pc = start;
    return true;
  }
  found = true;
  const unsigned reg = c.reg0;
  std::set<unsigned> used{reg};
  const std::uint64_t core = line.pc;
  if (!take(line, c)) return false;
  if (c.id == X86_INS_MOV && !c.memoryFirst && c.reg0 == reg && c.base == reg) {
    if (!take(line, c)) return false;
    std::uint32_t mask = 0;
    if (c.id == X86_INS_OR && c.memoryFirst && c.base == reg && c.width == 4) {
      mask = std::uint32_t(c.imm);
    } else {
      Code lea, store;
      if (c.id != X86_INS_MOV || c.base != reg || c.width != 4)
        return fail(line, c.address, "not a probe: " + c.text), false;
      if (!take(line, lea) || !take(line, store)) return false;
      if (lea.id != X86_INS_LEA || lea.reg0 != c.reg0 || store.id != X86_INS_MOV || !store.memoryFirst ||
          store.base != reg || store.reg1 != c.reg0 || store.width != 4)
        return fail(line, lea.address, "not a light probe: " + lea.text + "; " + store.text), false;
      mask = std::uint32_t(lea.disp);
      used.insert(lea.base);
    }
    const auto block = line.withBit.find(original);
    if (block == line.withBit.end() || mask != 1U << line.function->blocks[block->second].bit)
      return fail(line, c.address,
                  std::format("sets {:#x}, which is not the bit of the block at {:#x}", mask, original)),
             false;
    line.lightsSeen.insert(block->second);
    ++m_findings.lights;
  } else {
    line.pc = core;
    if (!checkHead(line, reg, original)) return false;
  }
  // Of all that was written, what the restores below do not bring back.
  std::uint16_t written = 0;
  bool flags = false;
  for (std::uint64_t at = start; at < line.pc;) {
    Code part;
    if (!decode(m_file.elf, at, line.end, part)) return false;
    written |= part.effects.writes.registers;
    if (part.effects.writes.flags != 0) flags = true;
    at += part.size;
  }
  for (const auto& [kept, slot] : spilled) written = std::uint16_t(written & ~(1U << registerNumber(kept)));
  if (!checkScratch(line, start, written, flags)) return false;
  while (!spilled.empty()) {
    if (!take(line, c)) return false;
    const auto slot = spilled.find(c.reg0);
    if (c.id != X86_INS_MOV || c.memoryFirst || c.segment != X86_REG_FS || slot == spilled.end() ||
        slot->second != c.disp)
      return fail(line, c.address, "a register is not restored; instead: " + c.text), false;
    spilled.erase(slot);
  }
  return true;
}

//   op take; jmp next; take: jmp target; next:
bool CopyChecker::checkShortBranch(Line& line, const Code& original, bool exactly) {
  Code op, over, jump;
  if (!take(line, op) || !take(line, over) || !take(line, jump)) return false;
  if (op.id != original.id || op.target != jump.address || over.id != X86_INS_JMP || over.target != line.pc ||
      jump.id != X86_INS_JMP || !jump.direct)
    return fail(line, op.address, "not a short branch made long: " + op.text), false;
  m_obligations.push_back({jump.address, jump.target, original.target, exactly});
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
      return fail(line, copy.address, std::format("{} instead of {}", copy.text, original.text)), false;
    const bool within =
        original.target >= entry.original && original.target - entry.original < entry.originalSize;
    if (exactly && copy.target != original.target) {
      // Displaced code runs before the runtime, so it must stay with the original.
      return fail(line, copy.address, std::format("{} instead of {}", copy.text, original.text)), false;
    }
    if (!exactly) m_obligations.push_back({copy.address, copy.target, original.target, !within});
    return true;
  }
  if (copy.size != original.size)
    return fail(line, copy.address, std::format("{} instead of {}", copy.text, original.text)), false;
  for (unsigned i = 0; i < original.size; ++i) {
    const bool displacement =
        original.ripOffset != 0 && i >= original.ripOffset && i < original.ripOffset + 4;
    if (!displacement && copy.bytes[i] != original.bytes[i])
      return fail(line, copy.address, std::format("{} instead of {}", copy.text, original.text)), false;
  }
  if (original.ripOffset != 0 &&
      (copy.ripOffset != original.ripOffset || copy.ripTarget != original.ripTarget))
    return fail(line, copy.address, std::format("{} leads elsewhere than {}", copy.text, original.text)),
           false;
  return true;
}

// The lookup that stands for an indirect jump (its form is checked by what it must contain: the lowest
// target, the table, the original jump as the way out), and its table.
bool CopyChecker::checkDispatch(Line& line, const Code& original, bool& found) {
  found = false;
  Code c;
  if (!code(line, c)) return false;
  if (!(c.id == X86_INS_MOV && c.memoryFirst && c.segment == X86_REG_FS && c.disp == format::kSpillSlot))
    return true;
  found = true;
  ++m_findings.dispatches;
  std::vector<std::uint64_t> leas;
  std::uint64_t range = 0;
  for (int i = 0; i < 64; ++i) {
    const std::uint64_t at = line.pc;
    if (!take(line, c)) return false;
    if (c.id == X86_INS_LEA && c.ripOffset != 0) leas.push_back(c.ripTarget);
    if (c.id == X86_INS_CMP && c.reg0 == X86_REG_RCX) range = c.imm;
    if (c.id == X86_INS_JMP && !c.direct) {
      const bool isOriginal =
          at + c.size <= line.end && c.size == original.size && leas.size() >= 2 &&
          originOf(*line.function, at).first == original.address &&
          (c.ripOffset == 0 ? c.bytes == original.bytes : c.ripTarget == original.ripTarget);
      const auto [following, fixed] = originOf(*line.function, line.pc);
      // The first of the two jumps goes to a copy, the last is the original one.
      if (isOriginal && (line.pc >= line.end || following != original.address || !fixed)) break;
    }
    if (i == 63) return fail(line, at, "an indirect jump's lookup has no end"), false;
  }
  if (leas.size() != 2 || range == 0)
    return fail(line, line.pc, "an indirect jump's lookup is not understood"), false;
  line.tables[leas[1]] = {leas[0], range};
  return true;
}

bool CopyChecker::checkBlocks(Line& line) {
  while (line.next < line.original.size()) {
    const Code& original = line.original[line.next];
    const auto [origin, fixed] = originOf(*line.function, line.pc);
    if (origin != original.address)
      return fail(line, line.pc,
                  std::format("stands for {:#x}, but {:#x} is due ({})", origin, original.address,
                              original.text)),
             false;
    const std::uint64_t start = line.pc;
    bool probe = false, dispatch = false;
    // At the start of a block only may a probe be.
    if (fixed && !checkProbe(line, origin, probe)) return false;
    m_places[original.address] = start;
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
    ++line.next;
  }
  const Code& last = line.original.back();
  if (endsFlow(last.id)) return true;
  Code c;  // runs past its end: on in the original
  const std::uint64_t end = line.function->entry.original + line.function->entry.originalSize;
  if (!code(line, c)) return false;
  if (c.id == X86_INS_JMP && c.direct) {
    line.pc += c.size;
    m_obligations.push_back({c.address, c.target, end, true});
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
    const int number = registerNumber(line.wrapRegisters[i]);
    if (lea.id != X86_INS_LEA || lea.reg0 != line.wrapRegisters[i] || lea.ripTarget != resumesAt ||
        jump.id != X86_INS_JMP || number < 0 ||
        jump.ripTarget !=
            m_file.module.moduleSlots + offsetof(format::ModuleSlots, wrap) + 8 * unsigned(number))
      return fail(line, at, "not the way to the runtime and back: " + lea.text + "; " + jump.text), false;
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
    if (!checkInstruction(line, original, true)) return false;
    last = &original;
  }
  if (last == nullptr) return fail(line, displaced, "nothing is displaced"), false;
  const std::uint64_t rest = last->address + last->size;
  if (endsFlow(last->id)) return true;
  Code jump;
  if (!take(line, jump)) return false;
  if (jump.id != X86_INS_JMP || jump.target != rest)
    return fail(line, jump.address, std::format("does not go on at {:#x}: {}", rest, jump.text)), false;
  return true;
}

bool CopyChecker::checkTables(Line& line) {
  for (const auto& [at, what] : line.tables) {
    const auto [lowest, range] = what;
    const auto bytes = m_file.elf.at(at, range * 4);
    if (!bytes) return fail(line, at, "a table outside of the file"), false;
    std::size_t targets = 0;
    for (std::uint64_t i = 0; i < range; ++i) {
      std::int32_t distance = 0;
      std::memcpy(&distance, bytes->data() + 4 * i, 4);
      if (distance == 0) continue;
      ++targets;
      m_obligations.push_back({at + 4 * i, at + std::uint64_t(std::int64_t(distance)), lowest + i, false});
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
    for (std::uint32_t b = dag.firstBlock; b < dag.firstBlock + dag.blockCount; ++b)
      if (function.blocks[b].bit != format::kNoBit && !line.lightsSeen.contains(b))
        fail(line, function.entry.copy,
             std::format("no light probe for the block at {:#x}", function.blocks[b].start));
  }
}

void CopyChecker::check(const InstrumentedFunction& function) {
  const format::FunctionEntry& entry = function.entry;
  if (entry.copy == 0) return;
  ++m_findings.functions;
  Line line;
  line.function = &function;
  line.pc = entry.copy;
  line.end = entry.copy + entry.copySize;
  for (std::uint64_t at = entry.original; at < entry.original + entry.originalSize;) {
    Code& code = line.original.emplace_back();
    if (!decode(m_original, at, entry.original + entry.originalSize, code))
      return fail(line, at, "the original does not decode there, and yet has a copy");
    at += code.size;
  }
  for (std::uint32_t i = 0; i < function.blocks.size(); ++i)
    if (function.blocks[i].bit != format::kNoBit) line.withBit[function.blocks[i].start] = i;
  for (std::uint32_t i = 0; i < function.dags.size(); ++i) {
    if (function.dags[i].firstBlock >= function.blocks.size())
      return fail(line, line.pc, "a DAG without blocks");
    line.dagOfWord[format::dagRecord(m_file.module.codeBase + function.dags[i].code)] = i;
  }
  std::vector<Effects> effects;
  for (const Code& code : line.original) effects.push_back(code.effects);
  line.needs = liveBefore(effects);
  // The window, if the entry was patched.
  std::uint64_t window = entry.original;
  if (line.original[0].id == X86_INS_ENDBR64) window += 4;
  const auto before = m_original.at(window, 5), after = m_file.elf.at(window, 5);
  if (!before || !after) return fail(line, window, "no entry");
  const bool patched = !std::ranges::equal(*before, *after);
  std::uint64_t displaced = 0;
  if (patched) {
    ++m_findings.windows;
    std::int32_t distance = 0;
    std::memcpy(&distance, after->data() + 1, 4);
    if ((*after)[0] != 0xE9 || window + 5 + std::uint64_t(std::int64_t(distance)) != entry.copy)
      return fail(line, window, "the entry does not jump to the gate");
    if (!checkGate(line, displaced)) return;
  }
  if (!checkBlocks(line) || !checkWraps(line) || (patched && !checkDisplaced(line, displaced, window)) ||
      !checkTables(line))
    return;
  checkCompleteness(line);
}

void CopyChecker::checkObligations() {
  for (const Obligation& due : m_obligations) {
    const auto place = m_places.find(due.original);
    if (place != m_places.end() && place->second == due.to) continue;
    if (due.mayStay && due.to == due.original) continue;
    if (m_findings.wrong.size() < kMostFindings)
      m_findings.wrong.push_back(
          std::format("at {:#x}: leads to {:#x}, not to the copy of {:#x}", due.from, due.to, due.original));
  }
}

}  // namespace traceback::truth
