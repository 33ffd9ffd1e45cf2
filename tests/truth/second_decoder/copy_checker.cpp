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
      m_routines(readRoutines(file, findings)),
      m_words(original) {
  const auto heads =
      file.table<format::BroughtHead>(file.module.broughtHeadOffset, file.module.broughtHeadCount);
  if (heads && std::ranges::is_sorted(*heads, {}, &format::BroughtHead::start))
    for (const format::BroughtHead& head : *heads) m_broughtHeads[head.start] = head.routine;
  else
    findings.add("a table of brought heads outside of the file, or not sorted");
}

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

// Where copies enter that do not keep the cursor, and whoever comes by the gate.
bool CopyChecker::checkUnkeptEntry(Line& line) {
  const std::uint64_t start = line.pc;
  bool loads = false;
  if (!checkCursorLoad(line, line.needs->front(), loads)) return false;
  if (!loads && !checkEntryComparison(line, loads)) return false;
  if (!loads) return true;
  m_unkeptEntries[line.original.front().address] = start;
  return checkKeeps(line, true);
}

// Whatever order the blocks stand in: each instruction once.
bool CopyChecker::checkBlocks(Line& line) {
  line.copied.assign(line.original.size(), false);
  for (std::size_t left = line.original.size(); left > 0; --left) {
    if (!findDue(line)) return false;
    const Code& original = line.original[line.next];
    if (!checkCopied(line, original)) return false;
    line.copied[line.next] = true;
    line.above = endsFlow(original.id) ? std::nullopt : std::optional(line.next);
    if (line.above && line.next + 1 == line.original.size() && !checkFallOff(line)) return false;
  }
  if (!line.above) return true;
  bool elsewhere = false;
  const std::uint64_t next = line.original[*line.above + 1].address;
  if (!line.inverted && !goesOnElsewhere(line, next, elsewhere)) return false;
  if (!elsewhere) return fail(line, line.pc, "control runs out of the blocks"), false;
  return true;
}

bool CopyChecker::checkCopied(Line& line, const Code& original) {
  const std::uint64_t front = line.pc;
  line.scratch = 0;
  auto [origin, fixed] = originOf(*line.function, line.pc);
  if (origin != original.address) {
    if (!fixed || !checkProbeOfBranchTo(line, origin, original)) {
      if (!fixed)
        fail(
            line, front,
            std::format("stands for {:#x}, but {:#x} is due ({})", origin, original.address, text(original)));
      return false;
    }
    std::tie(origin, fixed) = originOf(*line.function, line.pc);
    if (origin != original.address) return fail(line, line.pc, "stands for something else"), false;
  }
  const format::BlockEntry* head = headAt(line, original.address);
  const bool falls = fallsOnFromAbove(line), fallsPastHead = falls && fallsPast(line);
  bool passing = false;
  if (head != nullptr && falls) {
    if (fallsPastHead && !checkPassing(line, original.address, passing)) return false;
    fixed = originOf(*line.function, line.pc).second;
  }
  const std::uint64_t start = line.pc;
  bool probe = false, dispatch = false, table = false;
  line.scratch = 0;
  // At the start of a block only may a probe be.
  if (fixed && !checkProbe(line, Probe::Head, origin, (*line.needs)[line.next], probe)) return false;
  if (passing && !probe) return fail(line, start, "a jump past a probe that is not there"), false;
  if (head != nullptr && !probe) {
    line.headsApart[std::uint32_t(head - line.function->blocks.data())] = m_copies.size();
    if (falls && !fallsPastHead)
      return fail(line, line.pc, "control comes here without the probe that is due"), false;
  }
  if (head != nullptr) m_behindHeads[original.address] = line.pc;
  m_copies.emplace_back(original.address, passing ? start : front);
  std::uint64_t itself = line.pc;
  line.inverted = false;
  const bool indirect = original.id == X86_INS_JMP && !original.direct;
  const bool throughTable = !line.tableJumps.empty() && line.next >= line.tableJumps.back().load &&
                            line.next <= line.tableJumps.back().jump;
  if (!checkTableLoad(line, original, table)) return false;
  if (indirect && !table && !throughTable && !checkDispatch(line, original, dispatch)) return false;
  if (dispatch || table) {
    ++m_findings.instructions;
  } else {
    const auto [self, stillFixed] = originOf(*line.function, line.pc);
    if (self != original.address || (stillFixed && !original.direct))
      return fail(line, line.pc, std::format("stands for {:#x}, but is {:#x}", self, original.address)),
             false;
    const bool bySlot = blockBySlot(line, original) != nullptr || comparesSlot(line, original);
    if (bySlot ? !checkBySlot(line, original, itself) : !checkInstruction(line, original, false))
      return false;
  }
  m_places.push_back({start, itself, line.pc, original.address, original.size, line.scratch, false,
                      throughTable ? line.tableJumps.back().lost() : std::uint16_t{0}});
  return checkProbeBehind(line, original);
}

// Behind the last instruction of a function that runs past its end: on in the original.
bool CopyChecker::checkFallOff(Line& line) {
  line.above.reset();
  const Code& last = line.original.back();
  Code c;
  const std::uint64_t end = line.function->entry.original + line.function->entry.originalSize;
  if (!code(line, c)) return false;
  if (c.id == X86_INS_JMP && c.direct) {
    line.pc += c.size;
    const bool behindCall = last.effects.leaves == Leaves::Call;
    m_obligations.push_back({c.address, c.target, end, true, 0, line.keeps.value_or(false) && !behindCall});
    m_places.push_back({c.address, 0, line.pc, last.address, last.size});
  } else if (last.id != X86_INS_CALL) {
    return fail(line, c.address, "the copy runs past its end"), false;
  }
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
  const auto first = std::ptrdiff_t(m_copies.size());
  checkCopy(index);
  std::sort(m_copies.begin() + first, m_copies.end());
}

void CopyChecker::checkCopy(std::size_t index) {
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
      if (block.successor[k] < function.blocks.size() && !(k == 1 && format::passesBySlot(block)) &&
          (k == 0 || block.successor[1] != block.successor[0]))
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
  if (!checkBlocks(line) || !checkTakenEdges(line) || !checkElsewhere(line) || !checkHeadsApart(line) ||
      !checkSlowWays(line) || !checkEntries(line) || !checkWraps(line) ||
      (gated && !checkDisplaced(line, displaced, window)) || !checkTables(line))
    return;
  if (gated && needsCursor(line.original[0].address) && !m_unkeptEntries.contains(line.original[0].address))
    fail(line, entry.copy, "the gate leads where the cursor must be in xmm15");
  if (line.keeps.value_or(false)) {
    m_keepers[entry.original] = entry.original + entry.originalSize;
    noteExits(line);
  }
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
    if (due.mayStay && due.to == due.original) {
      m_stayOriginal.insert(due.by);
      continue;
    }
    // The walk over a copy ends where it is wrong: what is behind that has no known place.
    if (copy == 0 && std::ranges::any_of(m_broken, [&due](const format::FunctionEntry* entry) {
          return due.original - entry->original < entry->originalSize;
        }))
      continue;
    m_findings.add(
        std::format("at {:#x}: leads to {:#x}, not to the copy of {:#x}", due.from, due.to, due.original));
  }
  checkBrought();
}

}  // namespace traceback::truth
