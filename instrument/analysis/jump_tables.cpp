#include "instrument/analysis/jump_tables.h"

#include <algorithm>

namespace traceback::instrument {
namespace {

using Of = IndexedOperand::Of;
using Kind = JumpTable::Kind;

constexpr std::uint32_t kMostEntries = 1 << 14;

class Search {
 public:
  Search(const Program& program, const ConstantWords& words, const Function& f, const Block& block,
         const IndirectTargets& known)
      : m_program(program), m_words(words), m_f(f), m_block(block), m_known(known) {}

  std::optional<TableJump> run() {
    m_out.jump = m_block.end - 1;
    const Instruction& jump = insn(m_out.jump);
    if (jump.flow != Flow::IndirectJump || jump.ripOffset != 0 || !findLoad() || !findTable())
      return std::nullopt;
    if (!chooseRegisters()) return std::nullopt;
    boundIndex();
    if (!flagsAreFree()) return std::nullopt;
    return m_out;
  }

 private:
  const Instruction& insn(std::uint32_t i) const { return m_f.instructions[i]; }
  std::span<const std::byte> code(std::uint32_t i) const {
    return m_program.codeAt(insn(i).address, insn(i).length);
  }

  // What may look at anything may change it.
  RegisterSet changedBy(std::uint32_t i) const {
    return insn(i).reads == kAllRegisters ? kAllRegisters : insn(i).changes;
  }

  // The instruction that reads the table, with nothing between it and the jump that would notice.
  bool findLoad() {
    if (insn(m_out.jump).indirectRegister == 0xFF) {
      const auto operand = indexedOperand(code(m_out.jump));
      if (!operand || operand->of != Of::Jump) return false;
      m_out.load = m_out.jump;
      m_out.operand = *operand;
    } else {
      const unsigned reg = insn(m_out.jump).indirectRegister;
      std::uint32_t i = m_out.jump;
      std::optional<std::uint32_t> add;
      while (i > m_block.first && (changedBy(i - 1) & registerBit(reg)) == 0) {
        --i;
        if ((insn(i).reads & registerBit(reg)) != 0 && i != m_out.jump) return false;
      }
      if (i == m_block.first) return false;
      --i;
      if ((insn(i).reads & registerBit(reg)) != 0 && !indexedOperand(code(i))) {
        // add base, reg; in front of that the load.
        add = i;
        while (i > m_block.first && (changedBy(i - 1) & registerBit(reg)) == 0) {
          --i;
          if (i != *add && (insn(i).reads & registerBit(reg)) != 0) return false;
        }
        if (i == m_block.first) return false;
        --i;
      }
      const auto operand = indexedOperand(code(i));
      if (!operand || operand->of == Of::Jump || operand->to != reg || operand->base == reg) return false;
      if ((operand->of == Of::Offset) != add.has_value()) return false;
      if (add && !isAdd(code(*add), operand->base, reg)) return false;
      if (add && operand->base == kNoBase) return false;
      m_out.load = i;
      m_out.operand = *operand;
      for (std::uint32_t k = i + 1; k < m_out.jump; ++k) {
        if (operand->base != kNoBase && (changedBy(k) & registerBit(operand->base)) != 0) return false;
        if (k == add) continue;
        m_between |= RegisterSet(insn(k).reads | changedBy(k));
        if ((insn(k).flagsRead & kAllFlags) != 0) return false;
        if (!add || k < *add) continue;
        m_changedBehindAdd |= insn(k).flagsChanged;
        m_killedBehindAdd |= insn(k).flagsKilled;
      }
    }
    const bool based = m_out.operand.base != kNoBase;
    m_out.table.kind = !based                           ? Kind::Absolute
                       : m_out.operand.of == Of::Offset ? Kind::Offsets
                                                        : Kind::Addresses;
    return based ? m_out.operand.displacement == 0 : m_program.image->type() == ET_EXEC;
  }

  bool findTable() {
    if (m_out.table.kind == Kind::Absolute) {
      if (m_out.operand.displacement < 0) return false;
      m_out.table.original = {std::uint64_t(m_out.operand.displacement)};
      return countEntries();
    }
    const unsigned base = m_out.operand.base;
    for (std::uint32_t i = m_out.load; i-- > m_block.first;) {
      if ((changedBy(i) & registerBit(base)) == 0) continue;
      if (!takesAddress(insn(i), base)) return false;
      m_out.table.original = insn(i).ripTarget;
      return countEntries();
    }
    // Of another block, out of a loop perhaps: the nearest in front, or else the next.
    m_out.comparesBase = true;
    for (std::uint32_t i = m_block.first; i-- > 0;)
      if (isTable(insn(i), base)) return true;
    for (std::uint32_t i = m_block.end; i < m_f.instructions.size(); ++i)
      if (isTable(insn(i), base)) return true;
    return false;
  }
  static bool takesAddress(const Instruction& insn, unsigned reg) {
    return insn.isLea && insn.ripOffset != 0 && insn.kills == registerBit(reg);
  }
  bool isTable(const Instruction& insn, unsigned base) {
    if (!takesAddress(insn, base)) return false;
    m_out.table.original = insn.ripTarget;
    return countEntries();
  }

  bool isWithin(VirtAddr target) const {
    return std::ranges::any_of(m_known.functions(),
                               [&](const Function* f) { return f->contains(target) || target == f->end(); });
  }

  // Up to the last that leads to where something is known to be. What is behind the table counts at worst, up
  // to where another begins; it is what it is.
  bool countEntries() {
    std::vector<VirtAddr>& targets = m_out.table.targets;
    const VirtAddr end = nextTable();
    targets.clear();
    std::size_t known = 0;
    while (targets.size() < kMostEntries && placeOfEntry(targets.size()) < end) {
      const auto target = entryAt(targets.size());
      if (!target || !isWithin(*target)) break;
      targets.push_back(*target);
      if (m_known.at(*target)) known = targets.size();
    }
    targets.resize(known);
    return known != 0;
  }
  VirtAddr placeOfEntry(std::uint64_t index) const {
    return {m_out.table.original.value + index * (m_out.table.kind == Kind::Offsets ? 4 : 8)};
  }
  // Where the entry of the program's table leads; nothing if that may change.
  std::optional<VirtAddr> entryAt(std::uint64_t index) const {
    if (m_out.table.kind != Kind::Offsets) return m_words.addressAt(placeOfEntry(index));
    const auto offset = m_words.offsetAt(placeOfEntry(index));
    if (!offset) return std::nullopt;
    return VirtAddr{m_out.table.original.value + std::uint64_t(std::int64_t(*offset))};
  }
  VirtAddr nextTable() const {
    const VirtAddr table = m_out.table.original;
    VirtAddr next{~std::uint64_t{0}};
    const auto consider = [&](VirtAddr address) {
      if (address > table) next = std::min(next, address);
    };
    for (const Instruction& insn : m_f.instructions) {
      if (insn.isLea && insn.ripOffset != 0) consider(insn.ripTarget);
      if (m_out.table.kind == Kind::Absolute && insn.displacement != 0) consider({insn.displacement});
    }
    return next;
  }

  // Where the index is one of few, the table has them all, and it need not be compared. What is read behind
  // the program's table may lead anywhere: not by a stub.
  void boundIndex() {
    const std::uint32_t entries = m_out.table.entries();
    const auto values = valuesOfIndex();
    if (!values || *values > (m_out.spills ? entries : 2 * entries)) return;
    std::vector<VirtAddr> targets = m_out.table.targets;
    while (targets.size() < *values) {
      const auto target = entryAt(targets.size());
      if (!target) return;
      targets.push_back(*target);
    }
    m_out.table.targets = std::move(targets);
    m_out.comparesIndex = false;
  }
  std::optional<std::uint32_t> valuesOfIndex() const {
    for (std::uint32_t i = m_out.load; i-- > m_block.first;) {
      if ((changedBy(i) & registerBit(m_out.operand.index)) == 0) continue;
      const auto bounded = boundedBy(code(i));
      if (!bounded || bounded->reg != m_out.operand.index) return std::nullopt;
      return bounded->values;
    }
    return std::nullopt;
  }

  bool hasRegister() const { return m_out.load != m_out.jump; }

  bool chooseRegisters() {
    const IndexedOperand& operand = m_out.operand;
    if (hasRegister()) m_out.target = operand.to;
    const bool needsScratch = hasRegister() ? m_out.comparesBase && operand.to == operand.index
                                            : m_out.table.kind != Kind::Absolute;
    if (!needsScratch) return true;
    RegisterSet needed = 0;
    for (const VirtAddr target : m_out.table.targets) {
      const auto place = m_known.at(target);
      needed |= place ? place->block().live : kAllRegisters;
    }
    auto taken =
        RegisterSet(m_between | registerBit(kRsp) | registerBit(operand.base) | registerBit(operand.index));
    if (hasRegister()) taken |= registerBit(operand.to);
    for (const RegisterSet avoided : {RegisterSet(needed | taken), taken}) {
      for (unsigned reg = 0; reg < 16 && !m_out.scratch; ++reg)
        if ((avoided & registerBit(reg)) == 0) m_out.scratch = reg;
    }
    if (!m_out.scratch) return false;
    m_out.spills = m_out.comparesBase || (needed & registerBit(*m_out.scratch)) != 0;
    return true;
  }

  // Comparisons change them, and so does an add that the program does not have. Where it has one, that
  // decides, and stubs can repeat it; or what stands behind it decides, of all that are needed.
  bool flagsAreFree() {
    if (m_out.table.kind == Kind::Offsets) {
      m_out.leavesFlagsOfAdd = (m_changedBehindAdd & kAllFlags) == 0;
      return m_out.leavesFlagsOfAdd || (neededFlags() & ~m_killedBehindAdd) == 0;
    }
    if (m_out.table.kind == Kind::Absolute && !m_out.comparesIndex) return true;
    return neededFlags() == 0;
  }
  FlagSet neededFlags() const {
    FlagSet needed = m_f.jumpFlags;
    for (const VirtAddr target : m_out.table.targets)
      if (const auto place = m_known.at(target)) needed |= place->block().liveFlags;
    return needed;
  }

  const Program& m_program;
  const ConstantWords& m_words;
  const Function& m_f;
  const Block& m_block;
  const IndirectTargets& m_known;
  RegisterSet m_between = 0;  // read or written between load and jump, but by the add
  FlagSet m_changedBehindAdd = 0, m_killedBehindAdd = 0;
  TableJump m_out;
};

}  // namespace

std::optional<TableJump> findTableJump(const Program& program, const ConstantWords& words, const Function& f,
                                       const Block& block, const IndirectTargets& known) {
  return Search(program, words, f, block, known).run();
}

}  // namespace traceback::instrument
