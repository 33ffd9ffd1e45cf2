#include "instrument/analysis/code_targets.h"

#include <algorithm>
#include <iterator>

namespace traceback::instrument {
namespace {

using format::SkipReason;
using loader::readAt;

constexpr std::size_t kMostTableEntries = 1 << 16;

bool isDirectJump(const Instruction& insn) {
  return insn.flow == Flow::Jump || insn.flow == Flow::Branch || insn.flow == Flow::ShortBranch;
}

template <typename T>
void sortUnique(std::vector<T>& values) {
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
}

std::vector<VirtAddr> tablesOf(const Function& f) {
  std::vector<VirtAddr> tables;
  for (const Instruction& insn : f.instructions)
    if (insn.isLea && insn.ripOffset != 0 && insn.ripTarget.value % 4 == 0) tables.push_back(insn.ripTarget);
  sortUnique(tables);
  return tables;
}

}  // namespace

void CodeTargets::mark(std::vector<std::vector<bool>>& bits, VirtAddr address) {
  for (std::size_t i = 0; i < m_program->code.size(); ++i)
    if (m_program->code[i].contains(address)) bits[i][address.value - m_program->code[i].start.value] = true;
}

bool CodeTargets::marked(const std::vector<std::vector<bool>>& bits, VirtAddr address) const {
  for (std::size_t i = 0; i < m_program->code.size(); ++i)
    if (m_program->code[i].contains(address)) return bits[i][address.value - m_program->code[i].start.value];
  return false;
}

bool CodeTargets::anyInside(VirtAddr first, VirtAddr end) const {
  for (std::uint64_t a = first.value + 1; a < end.value; ++a)
    if (marked(m_possible, {a})) return true;
  return false;
}

const Function* CodeTargets::markAddressTaken(Program& program, VirtAddr address) {
  if (!program.isCode(address)) return nullptr;
  mark(m_possible, address);
  mark(m_named, address);
  Function* f = program.functionAt(address);
  if (f == nullptr || f->instructionAt(address) < 0) return nullptr;
  // A label: a computed goto may lead there.
  if (f->start != address) f->indirectTargets.push_back(address);
  return f;
}

void CodeTargets::join(const Function& one, const Function& other) {
  const Function* first = m_program->functions.data();
  const auto a = std::uint32_t(&one - first), b = std::uint32_t(&other - first);
  m_joined.emplace_back(a, b);
  m_joined.emplace_back(b, a);
}

void CodeTargets::scanInstructions(Program& program) {
  const bool absolute = program.image->type() == ET_EXEC;
  for (Function& f : program.functions) {
    bool behindCall = false;
    for (const Instruction& insn : f.instructions) {
      if (isDirectJump(insn)) {
        mark(m_possible, insn.target);
        if (f.contains(insn.target)) {
          if (f.instructionAt(insn.target) < 0 && f.skip == SkipReason::None)
            f.skip = SkipReason::BranchIntoInstruction;
        } else if (Function* other = program.functionAt(insn.target); other != nullptr) {
          if (other->start != insn.target) {
            other->outsideTargets.push_back(insn.target);
            join(f, *other);
          } else {
            ++other->outsideJumps;
          }
        }
      } else if (insn.flow == Flow::Call) {
        mark(m_possible, insn.target);
        mark(m_called, insn.target);
        Function* callee = program.functionAt(insn.target);
        if (callee != nullptr && callee->start == insn.target) {
          ++callee->directCalls;
        } else if (callee != nullptr) {
          callee->outsideTargets.push_back(insn.target);
          if (callee->skip == SkipReason::None) callee->skip = SkipReason::CallsItself;
        }
      }
      // Whatever computes the address, only what begins so may be jumped to where branches are tracked.
      // Landing pads and where setjmp returns to begin so as well, and are not for jumps.
      if (insn.isEndbr64 && f.hasIndirectJump && insn.address != f.start && !behindCall &&
          std::ranges::find(f.landingPads, insn.address) == f.landingPads.end()) {
        mark(m_possible, insn.address);
        f.indirectTargets.push_back(insn.address);
      }
      behindCall = isCall(insn.flow);
      if (absolute) {
        markAddressTaken(program, {insn.displacement});
        markAddressTaken(program, {insn.immediate});
      }
      if (insn.ripOffset == 0 || !program.isCode(insn.ripTarget)) continue;
      // Reading bytes of code: they must stay as they are, for as many as the widest operand has.
      if (insn.isLea)
        markAddressTaken(program, insn.ripTarget);
      else
        for (unsigned i = 0; i < 64; ++i) mark(m_possible, {insn.ripTarget.value + i});
    }
    for (const VirtAddr pad : f.landingPads) {
      mark(m_possible, pad);
      if (Function* other = program.functionAt(pad); other != nullptr && other != &f)
        other->landingPads.push_back(pad);
    }
  }
}

// Whatever looks like a call, jump or branch with a 32-bit displacement, at any byte.
void CodeTargets::scanBytes() {
  for (const CodeRange& range : m_program->code) {
    for (std::size_t i = 0; i + 5 <= range.bytes.size(); ++i) {
      const auto opcode = std::uint8_t(range.bytes[i]);
      const bool twoBytes = (opcode & 0xF0) == 0x80 && i > 0 && std::uint8_t(range.bytes[i - 1]) == 0x0F;
      if (opcode != 0xE8 && opcode != 0xE9 && !twoBytes) continue;
      const std::uint64_t end = range.start.value + i + 5;
      mark(m_possible, {end + std::uint64_t(std::int64_t(*readAt<std::int32_t>(range.bytes, i + 1)))});
    }
  }
}

// Short jumps, branches and loops that may stand in code without unwind information.
void CodeTargets::scanShortJumps() {
  for (const CodeRange& range : m_program->code) {
    const auto scan = [&](VirtAddr from, VirtAddr to) {
      for (VirtAddr at = from; at.value + 2 <= to.value; ++at.value) {
        const std::size_t i = at.value - range.start.value;
        const auto opcode = std::uint8_t(range.bytes[i]);
        if (opcode != 0xEB && (opcode & 0xF0) != 0x70 && (opcode & 0xFC) != 0xE0) continue;
        mark(m_possible,
             {at.value + 2 + std::uint64_t(std::int64_t(*readAt<std::int8_t>(range.bytes, i + 1)))});
      }
    };
    VirtAddr at = range.start;
    for (const Function& f : m_program->functions) {
      if (!range.contains(f.start)) continue;
      scan(at, f.start);
      at = std::max(at, std::min(f.end(), range.end));
    }
    scan(at, range.end);
  }
}

// Words of data, relocation addends and symbols that are addresses of code. A label beside an address in
// another function: most likely a table of one function's labels, some of which were moved away.
void CodeTargets::scanData(Program& program) {
  const loader::ElfImage& image = *program.image;
  struct Word {
    VirtAddr place, address;
    const Function* function = nullptr;
  } last;
  const auto word = [&](VirtAddr place, VirtAddr address) {
    const Word next{place, address, markAddressTaken(program, address)};
    if (next.function != nullptr && last.function != nullptr && next.function != last.function &&
        place.value == last.place.value + 8 &&
        (address != next.function->start || last.address != last.function->start))
      join(*last.function, *next.function);
    last = next;
  };
  for (const Elf64_Phdr& segment : image.segments()) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) != 0) continue;
    const auto bytes = image.fromAddress({segment.p_vaddr});
    if (!bytes) continue;
    for (std::size_t i = (8 - segment.p_vaddr % 8) % 8; i + 8 <= bytes->size(); i += 8)
      word({segment.p_vaddr + i}, {*readAt<std::uint64_t>(*bytes, i)});
  }
  if (const auto relocations = image.relocations())
    for (const loader::ElfRelocation& r : *relocations) word(r.address, {std::uint64_t(r.addend)});
  const auto addSymbols = [&](const model::Result<std::vector<loader::ElfSymbol>>& symbols) {
    if (!symbols) return;
    for (const loader::ElfSymbol& symbol : *symbols) {
      if (!symbol.defined() || symbol.type() == STT_TLS || !program.isCode(symbol.address)) continue;
      mark(m_possible, symbol.address);
      if (symbol.binding() != STB_LOCAL) mark(m_named, symbol.address);
    }
  };
  addSymbols(image.symbols());
  addSymbols(image.dynamicSymbols());
  mark(m_possible, image.entry());
  for (const std::int64_t tag : {DT_INIT, DT_FINI})
    if (const auto address = image.dynamicValue(tag)) markAddressTaken(program, {*address});
}

// Tables of 32-bit distances from their own start. Any 4-aligned address that an instruction takes may be
// one; it is read for as long as its entries lead to code, or to the end of a function, where compilers let
// those lead that are never used. Reading too far only finds too much.
void CodeTargets::scanTables(Program& program) {
  std::vector<VirtAddr> all;
  for (const Function& f : program.functions) std::ranges::copy(tablesOf(f), std::back_inserter(all));
  sortUnique(all);
  for (Function& f : program.functions) {
    for (const VirtAddr table : tablesOf(f)) {
      const auto next = std::ranges::upper_bound(all, table);
      scanTable(program, f, table, next == all.end() ? VirtAddr{~std::uint64_t{0}} : *next);
    }
  }
}

// `next`: where another table may begin, whose entries are distances from there.
void CodeTargets::scanTable(Program& program, Function& f, VirtAddr table, VirtAddr next) {
  const auto bytes = program.image->fromAddress(table);
  if (!bytes) return;
  for (std::size_t i = 0; i < kMostTableEntries && (i + 1) * 4 <= bytes->size(); ++i) {
    const VirtAddr target{table.value + std::uint64_t(std::int64_t(*readAt<std::int32_t>(*bytes, i * 4)))};
    Function* owner = program.functionAt(target);
    if (target == f.end() || (owner == nullptr && program.functionAt({target.value - 1}) != nullptr)) {
      mark(m_possible, target);
      continue;
    }
    if (owner == nullptr || owner->instructionAt(target) < 0) break;
    mark(m_possible, target);
    if (!f.hasIndirectJump) continue;
    if (owner == &f) {
      f.indirectTargets.push_back(target);
    } else if (table.value + i * 4 < next.value) {
      owner->indirectTargets.push_back(target);
      if (target == owner->start) ++owner->outsideJumps;
      join(f, *owner);
    }
  }
}

// An indirect jump may lead to any part of its function.
void CodeTargets::findKin(Program& program) {
  sortUnique(m_joined);
  for (const auto& [one, other] : m_joined) {
    Function& target = program.functions[other];
    if (!program.functions[one].hasIndirectJump || target.indirectTargets.empty()) continue;
    program.functions[one].kin.push_back(other);
    target.reachedByKin = true;
  }
  m_joined = {};
  for (Function& f : program.functions) {
    if (f.hasIndirectJump || f.reachedByKin) continue;
    f.labelTaken = !f.indirectTargets.empty();
    f.indirectTargets = {};
  }
}

CodeTargets CodeTargets::find(Program& program) {
  CodeTargets out;
  out.m_program = &program;
  for (const CodeRange& range : program.code) {
    out.m_possible.emplace_back(range.bytes.size());
    out.m_called.emplace_back(range.bytes.size());
    out.m_named.emplace_back(range.bytes.size());
  }
  out.scanInstructions(program);
  out.scanBytes();
  out.scanShortJumps();
  out.scanData(program);
  out.scanTables(program);
  out.findKin(program);
  for (Function& f : program.functions) {
    sortUnique(f.outsideTargets);
    sortUnique(f.indirectTargets);
  }
  return out;
}

}  // namespace traceback::instrument
