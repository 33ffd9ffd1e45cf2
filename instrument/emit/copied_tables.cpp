#include "instrument/emit/copied_tables.h"

#include <algorithm>

namespace traceback::instrument {

bool CopiedTables::Table::isSame(const Table& other) const {
  return table == other.table && target == other.target && scratch == other.scratch && base == other.base;
}

CopiedTables::CopiedTables(CodeBuilder& code, const Program& program, const Function& function,
                           const IndirectTargets& targets, const ConstantWords* words)
    : m_code(code), m_program(program), m_function(function), m_targets(targets), m_words(words) {}

std::optional<TableJump> CopiedTables::jumpOf(const Block& block) const {
  if (m_words == nullptr || m_targets.empty() || !block.reached ||
      m_function.lastOf(block).flow != Flow::IndirectJump)
    return std::nullopt;
  return findTableJump(m_program, *m_words, m_function, block, m_targets);
}

void CopiedTables::emitLoad(const TableJump& jump, std::span<const std::uint8_t> raw) {
  const Table table{jump.table,
                    jump.target,
                    jump.spills ? jump.scratch : std::nullopt,
                    jump.table.kind == JumpTable::Kind::Offsets && jump.leavesFlagsOfAdd
                        ? std::optional<unsigned>(jump.operand.base)
                        : std::nullopt,
                    &m_function.instructions[jump.jump],
                    {}};
  auto known = std::ranges::find_if(m_tables, [&](const Table& other) { return other.isSame(table); });
  if (known == m_tables.end()) known = m_tables.insert(known, table);
  const SlowWay way = emitTableLoad(m_code, jump, m_function.instructions[jump.load], raw,
                                    std::uint32_t(known - m_tables.begin()));
  if (way.isUsed) m_slowWays.emplace_back(jump, way);
}

void CopiedTables::emitSlowWays(const std::function<void(const Instruction&)>& emitOriginal) {
  for (const auto& [jump, way] : m_slowWays) {
    const Instruction& load = m_function.instructions[jump.load];
    m_code.setOrigin({load.address, load.length, true});
    emitSlowStart(m_code, jump, way);
    for (std::uint32_t i = jump.load; i <= jump.jump; ++i) emitOriginal(m_function.instructions[i]);
  }
}

void CopiedTables::emitStubs(std::span<const Label> blocks) {
  for (Table& table : m_tables) emitStubs(table, blocks);
}

// What of that which the table's jumps change is needed there. Who goes to original code that is not known
// directly comes there with all as it was, but for the scratch.
Restored CopiedTables::lostAt(const std::optional<IndirectTargets::Place>& place, const Table& table) {
  if (!place) return table.scratch ? Restored{table.scratch, table.target, table.base} : Restored{};
  const Block& block = place->block();
  Restored out;
  const auto isNeeded = [&](std::optional<unsigned> reg) {
    return reg && (block.live & registerBit(*reg)) != 0;
  };
  if (isNeeded(table.scratch)) out.scratch = table.scratch;
  if (block.liveFlags != 0) out.flagsOfAdd = table.base;
  if (isNeeded(table.target) || out.flagsOfAdd) out.target = table.target;
  return out;
}

void CopiedTables::emitStubs(Table& table, std::span<const Label> blocks) {
  for (const VirtAddr target : table.table.targets) {
    const auto place = m_targets.at(target);
    const Restored lost = lostAt(place, table);
    if ((!lost.target && !lost.scratch) ||
        std::ranges::find(table.stubs, target, &Stub::first) != table.stubs.end())
      continue;
    m_code.setOrigin({table.jump->address, table.jump->length, true});
    table.stubs.emplace_back(target, m_code.newLabel());
    m_code.bind(table.stubs.back().second);
    emitStub(m_code, lost, target);
    if (!place)
      m_code.jumpExactly(target);
    else if (place->function == &m_function)
      m_code.jump(blocks[place->index]);
    else
      m_code.jump(target);
  }
}

std::vector<CopiedTable> CopiedTables::settled() const {
  std::vector<CopiedTable> out;
  for (const Table& table : m_tables) {
    CopiedTable& copied = out.emplace_back(table.table);
    for (const auto& [target, label] : table.stubs) copied.stubs.emplace_back(target, m_code.offsetOf(label));
    std::ranges::sort(copied.stubs);
  }
  return out;
}

}  // namespace traceback::instrument
