// One original instruction, and what stands for it in the copy.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <format>

#include "runtime/format/map.h"
#include "runtime/format/ring.h"
#include "tests/truth/second_decoder/copy_checker.h"

namespace traceback::truth {

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

}  // namespace traceback::truth
