// The lookup that stands for an indirect jump, and its tables.
#include <algorithm>
#include <cstring>
#include <format>
#include <optional>

#include "runtime/format/ring.h"
#include "tests/truth/second_decoder/copy_checker.h"

namespace traceback::truth {

namespace {

constexpr std::int64_t kBaseSlot = format::kSpillSlot, kIndexSlot = kBaseSlot + 8,
                       kTargetSlot = kBaseSlot + 16, kFlagsSlot = kBaseSlot + 24;

bool isOf(const Code& c, unsigned number) { return registerNumber(c.reg0) == int(number); }

bool isSpill(const Code& c, std::int64_t slot) {
  return c.id == X86_INS_MOV && c.memoryFirst && c.segment == X86_REG_FS && c.base == 0 && c.index == 0 &&
         c.disp == slot && c.width == 8;
}
bool isRestore(const Code& c, std::int64_t slot) {
  return c.id == X86_INS_MOV && !c.memoryFirst && c.memory && c.segment == X86_REG_FS && c.base == 0 &&
         c.disp == slot && c.width == 8;
}

// What names an operand in memory: prefixes that say how it is addressed, X and B of REX, ModRM without its
// register, and all behind that.
struct Operand {
  unsigned char segment = 0, size = 0, extension = 0;
  std::span<const unsigned char> rest;
  unsigned char modrm = 0;
};
std::optional<Operand> operandOf(const Code& c, unsigned char opcode) {
  Operand out;
  const auto code = c.code();
  for (std::size_t i = 0; i + 1 < code.size(); ++i) {
    if (code[i] == opcode) {
      out.modrm = code[i + 1] & 0xC7;
      out.rest = code.subspan(i + 2);
      return out;
    }
    if (code[i] == 0x64 || code[i] == 0x65) out.segment = code[i];
    if (code[i] == 0x67) out.size = code[i];
    if ((code[i] & 0xF0) == 0x40) out.extension = code[i] & 3;
  }
  return std::nullopt;
}
bool loadsOperandOf(const Code& load, const Code& jump) {
  if (load.id != X86_INS_MOV || load.memoryFirst) return false;
  if (!jump.memory) return load.reg1 == jump.reg0 && load.size == 3;
  const auto a = operandOf(load, 0x8B), b = operandOf(jump, 0xFF);
  if (!a || !b || a->modrm != b->modrm || a->extension != b->extension || a->segment != b->segment ||
      a->size != b->size || load.width != 8)
    return false;
  return jump.ripOffset != 0 ? load.ripTarget == jump.ripTarget : std::ranges::equal(a->rest, b->rest);
}

}  // namespace

//   mov base, slot; mov index, slot
//   for each table:
//     (behind another: mov slot, base; mov slot, index)
//     mov TARGET, index
//     (lahf; seto al; mov rax, slot: of the first, if flags are kept)
//     lea lowest, base; sub base, index; cmp range, index; jae next; lea table, base
//     movz (base, index), index; test index, index; je next; movslq distances(base, index, 4), index
//     add base, index; what the targets need; jmp
//   all is restored, and the original jump
bool CopyChecker::checkDispatch(Line& line, const Code& original, bool& found) {
  found = false;
  Code c;
  if (!code(line, c)) return false;
  if (!isSpill(c, kBaseSlot)) return true;
  found = true;
  ++m_findings.dispatches;
  const auto refuse = [&] {
    return fail(line, c.address, "an indirect jump's lookup is not understood: " + text(c)), false;
  };
  const auto next = [&] { return take(line, c); };
  const unsigned base = unsigned(registerNumber(c.reg1));
  if (!next() || !next()) return false;
  const unsigned index = unsigned(registerNumber(c.reg1));
  if (!isSpill(c, kIndexSlot) || base == index || base > 15 || index > 15 || base == 4 || index == 4)
    return refuse();
  bool keepsFlags = false, first = true;
  const auto lookAhead = [&](auto is) {
    Code ahead;
    return code(line, ahead) && is(ahead);
  };
  // load of rax; add $0x7f, %al; sahf
  const auto restoresFlags = [&] {
    return next() && isRestore(c, kFlagsSlot) && isOf(c, 0) && next() && c.id == X86_INS_ADD &&
           c.reg0 == X86_REG_AL && c.imm == 0x7F && next() && c.id == X86_INS_SAHF;
  };
  const auto restoresBoth = [&] {
    return next() && isRestore(c, kBaseSlot) && isOf(c, base) && next() && isRestore(c, kIndexSlot) &&
           isOf(c, index);
  };
  const auto isFlagsRestore = [&](const Code& ahead) { return isRestore(ahead, kFlagsSlot); };
  for (;; first = false) {
    if (!first) {
      // Behind the last table: the original jump. (Where flags are kept, these come back first then.)
      if (lookAhead(isFlagsRestore)) {
        if (!keepsFlags || !restoresFlags() || !restoresBoth()) return refuse();
        break;
      }
      if (!restoresBoth()) return refuse();
      if (!keepsFlags && lookAhead([&](const Code& ahead) { return ahead.id == X86_INS_JMP; })) break;
    }
    const bool isThere = !original.memory && registerNumber(original.reg0) == int(index);
    if (!isThere && (!next() || !isOf(c, index) || !loadsOperandOf(c, original))) return refuse();
    if (first && lookAhead([](const Code& ahead) { return ahead.id == X86_INS_LAHF; })) {
      keepsFlags = true;
      if (!next() || !next() || c.id != X86_INS_SETO || c.reg0 != X86_REG_AL || !next() ||
          !isSpill(c, kFlagsSlot) || c.reg1 != X86_REG_RAX || base != 0)
        return refuse();
    }
    if (first && !keepsFlags && !checkScratch(line, c.address, (*line.needs)[line.next], 0, true))
      return false;
    if (!checkLookup(line, base, index, keepsFlags)) return false;
  }
  const std::uint64_t at = line.pc;
  if (!next()) return false;
  const bool same =
      c.id == X86_INS_JMP && !c.direct && c.size == original.size &&
      originOf(*line.function, at).first == original.address &&
      (c.ripOffset == 0 ? std::ranges::equal(c.code(), original.code()) : c.ripTarget == original.ripTarget);
  return same || refuse();
}

bool CopyChecker::checkLookup(Line& line, unsigned base, unsigned index, bool keepsFlags) {
  Code c;
  const auto refuse = [&] {
    return fail(line, c.address, "a lookup in a table is not understood: " + text(c)), false;
  };
  const auto next = [&](unsigned id) { return take(line, c) && c.id == id; };
  const auto element = [&](unsigned scale) {
    return isOf(c, index) && c.memory && !c.memoryFirst && registerNumber(c.element) == int(base) &&
           registerNumber(c.index) == int(index) && c.scale == scale && c.segment == 0;
  };
  Line::Table table{};
  std::uint64_t unknown = 0;
  if (!next(X86_INS_LEA) || !isOf(c, base) || c.ripOffset == 0) return refuse();
  table.lowest = c.ripTarget;
  if (!next(X86_INS_SUB) || !isOf(c, index) || registerNumber(c.reg1) != int(base) || c.size != 3)
    return refuse();
  if (!next(X86_INS_CMP) || !isOf(c, index) || c.size != 7) return refuse();
  table.range = c.imm;
  if (!next(X86_INS_JAE)) return refuse();
  unknown = c.target;
  if (!next(X86_INS_LEA) || !isOf(c, base) || c.ripOffset == 0) return refuse();
  const std::uint64_t at = c.ripTarget;
  if (!next(X86_INS_MOVZX) || (c.width != 1 && c.width != 2) || !element(c.width) || c.disp != 0)
    return refuse();
  table.indexSize = c.width;
  if (!next(X86_INS_TEST) || !isOf(c, index) || c.reg1 != c.reg0) return refuse();
  if (!next(X86_INS_JE) || c.target != unknown) return refuse();
  if (!next(X86_INS_MOVSXD) || c.width != 4 || !element(4)) return refuse();
  table.distances = c.disp;
  if (!next(X86_INS_ADD) || !isOf(c, index) || registerNumber(c.reg1) != int(base) || c.size != 3)
    return refuse();
  const std::uint64_t indexWords = (table.range * table.indexSize + 3) / 4 * 4;
  if (table.range == 0 || table.range > INT32_MAX || table.distances + 4 != std::int64_t(indexWords))
    return refuse();

  table.lost = std::uint16_t(1U << base | 1U << index);
  table.losesFlags = true;
  if (!take(line, c)) return false;
  if (keepsFlags && isRestore(c, kFlagsSlot) && isOf(c, 0)) {
    if (!next(X86_INS_ADD) || c.reg0 != X86_REG_AL || c.imm != 0x7F || !next(X86_INS_SAHF)) return refuse();
    table.losesFlags = false;
    if (!take(line, c)) return false;
  }
  if (isRestore(c, kBaseSlot) && isOf(c, base)) {
    table.lost &= std::uint16_t(~(1U << base));
    if (!take(line, c)) return false;
  }
  if (isSpill(c, kTargetSlot) && registerNumber(c.reg1) == int(index)) {
    if (!take(line, c) || !isRestore(c, kIndexSlot) || !isOf(c, index)) return refuse();
    table.lost &= std::uint16_t(~(1U << index));
    if (!next(X86_INS_JMP) || c.segment != X86_REG_FS || c.base != 0 || c.disp != kTargetSlot)
      return refuse();
  } else if (c.id != X86_INS_JMP || c.direct || c.memory || !isOf(c, index)) {
    return refuse();
  }
  if (line.pc != unknown) return refuse();
  // Jumps that share a table need not lose the same.
  const auto [known, fresh] = line.tables.try_emplace(at, table);
  if (fresh) return true;
  if (known->second.lowest != table.lowest || known->second.range != table.range ||
      known->second.indexSize != table.indexSize || known->second.distances != table.distances)
    return fail(line, at, "a table that is looked up in two ways"), false;
  known->second.lost |= table.lost;
  known->second.losesFlags |= table.losesFlags;
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
      const Needs* needs = m_flags.needsAt(table.lowest + i);
      if (needs == nullptr || !checkScratch(line, place, *needs, table.lost, table.losesFlags)) return false;
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
