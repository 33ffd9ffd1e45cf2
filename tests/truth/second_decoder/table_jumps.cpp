// Jumps through tables of the copy's own, which stand for the program's: where each entry leads, what makes
// sure that the program's table is the one that is meant, and the ways out where it is not.
#include <algorithm>
#include <cstring>
#include <format>

#include "runtime/format/ring.h"
#include "tests/truth/second_decoder/copy_checker.h"

namespace traceback::truth {

namespace {

constexpr std::int64_t kSlot = format::kSpillSlot;
constexpr std::uint64_t kMostEntries = 1 << 16;

bool isSpill(const Code& c, std::int64_t slot) {
  return c.id == X86_INS_MOV && c.memoryFirst && c.segment == X86_REG_FS && c.base == 0 && c.index == 0 &&
         c.disp == slot && c.width == 8;
}

// By 64-bit names.
bool isElement(const Code& c, unsigned scale) {
  return c.memory && !c.memoryFirst && c.index != 0 && c.scale == scale && c.segment == 0;
}

}  // namespace

// No way in or out between the two, other than from one instruction to the next.
bool CopyChecker::isStraight(const Line& line, std::size_t from, std::size_t to) const {
  const auto& targets = m_flags.jumpTargets();
  for (std::size_t i = from; i < to; ++i) {
    const Code& code = line.original[i];
    const std::uint64_t next = line.original[i + 1].address;
    if (code.direct || code.effects.leaves != Leaves::Not || !code.effects.falls ||
        line.blockAt.contains(next) || std::ranges::binary_search(targets, next))
      return false;
  }
  return true;
}

// What the original does from the load on: which registers, and that nothing notices what is in them.
bool CopyChecker::understandTableJump(Line& line, Line::TableJump& jump) {
  const Code& load = line.original[jump.load];
  jump.index = unsigned(registerNumber(load.index));
  if (load.element != 0) jump.base = unsigned(registerNumber(load.element));
  const bool offsets = load.id == X86_INS_MOVSXD;
  jump.kind = jump.base == 16 ? Line::TableJump::Kind::Absolute
              : offsets       ? Line::TableJump::Kind::Offsets
                              : Line::TableJump::Kind::Addresses;
  if (jump.base == 16 && (offsets || m_original.header().e_type != ET_EXEC || load.disp < 0)) return false;
  if (jump.base != 16 && load.disp != 0) return false;
  if (load.id == X86_INS_JMP) {
    jump.jump = jump.load;
    return true;
  }
  jump.target = unsigned(registerNumber(load.reg0));
  if (jump.target == jump.base) return false;
  bool added = false;
  for (std::size_t i = jump.load + 1; i < line.original.size() && isStraight(line, i - 1, i); ++i) {
    const Code& code = line.original[i];
    if (code.id == X86_INS_JMP && !code.direct) {
      jump.jump = i;
      return !code.memory && code.reg0 == load.reg0 && added == offsets;
    }
    if (offsets && !added && code.id == X86_INS_ADD && !code.memory && code.reg0 == load.reg0 &&
        code.reg1 == load.element && code.size == 3) {
      added = true;
      continue;
    }
    const auto named = std::uint16_t(code.effects.reads.registers | code.changes);
    if ((named & 1U << jump.target) != 0 || (jump.base != 16 && (code.changes & 1U << jump.base) != 0) ||
        (code.effects.reads.flags & kStatusFlags) != 0)
      return false;
    if (!added) continue;
    jump.setBehindAdd |= code.effects.writes.flags & kStatusFlags;
    jump.leavesFlagsOfAdd = jump.leavesFlagsOfAdd && !code.effects.maySetFlags;
  }
  return false;
}

// Without comparison: the block has the table's address in the base, by lea.
bool CopyChecker::proveBase(Line& line, Line::TableJump& jump) {
  for (std::size_t i = jump.load; i > 0 && isStraight(line, i - 1, i); --i) {
    const Code& code = line.original[i - 1];
    if ((code.changes & 1U << jump.base) == 0) continue;
    jump.original = code.ripTarget;
    return code.id == X86_INS_LEA && code.ripOffset != 0 && code.reg0 == line.original[jump.load].element;
  }
  return false;
}

// Without comparison: the block leaves the index only so many values.
bool CopyChecker::proveIndex(Line& line, Line::TableJump& jump) {
  for (std::size_t i = jump.load; i > 0 && isStraight(line, i - 1, i); --i) {
    const Code& code = line.original[i - 1];
    if ((code.changes & 1U << jump.index) == 0) continue;
    if ((code.effects.writes.registers & 1U << jump.index) == 0) return false;
    const auto bytes = code.code();
    const std::size_t at = (bytes[0] & 0xF0) == 0x40 ? 1 : 0;
    if (code.id == X86_INS_MOVZX && bytes[at] == 0x0F && bytes[at + 1] == 0xB6)
      jump.entries = 256;
    else if (code.id == X86_INS_AND && !code.memory && code.reg1 == 0 && code.imm < kMostEntries)
      jump.entries = code.imm + 1;
    return jump.entries != 0;
  }
  return false;
}

//   cmp entries, index; jae slow     (or the index is proved)
//   mov scratch, slot                (if that is needed anywhere)
//   lea original, reg; cmp reg, base; jne changed     (or the base is proved)
bool CopyChecker::compareTableJump(Line& line, Line::TableJump& jump, Code& c) {
  const Code& load = line.original[jump.load];
  const auto refuse = [&] {
    return fail(line, c.address, "a jump through a table is not understood: " + text(c)), false;
  };
  if (!take(line, c)) return false;
  if (c.id == X86_INS_CMP && !c.memory && c.reg0 == load.index && c.reg1 == 0) {
    jump.entries = c.imm;
    jump.losesFlags = true;
    if (!take(line, c) || c.id != X86_INS_JAE) return refuse();
    jump.slow = c.target;
    if (!take(line, c)) return false;
  } else if (!proveIndex(line, jump)) {
    return fail(line, c.address, "nothing bounds the index of a jump through a table"), false;
  }
  if (jump.entries == 0 || jump.entries > kMostEntries) return refuse();
  if (isSpill(c, kSlot)) {
    jump.scratch = unsigned(registerNumber(c.reg1));
    jump.kept = true;
    if (jump.scratch > 15 || jump.scratch == 4 || jump.scratch == jump.index || jump.scratch == jump.base ||
        jump.scratch == jump.target || !take(line, c))
      return refuse();
  }
  if (jump.kind == Line::TableJump::Kind::Absolute) {
    jump.original = std::uint64_t(load.disp);
    return !jump.kept || refuse();
  }
  if (c.id == X86_INS_LEA && c.ripOffset != 0) {
    const unsigned reg = c.reg0;
    const int number = registerNumber(reg);
    const bool own = number == int(jump.target) && jump.target != jump.index;
    if (!own && (!jump.kept || number != int(jump.scratch))) return refuse();
    jump.original = c.ripTarget;
    jump.losesFlags = true;
    if (!take(line, c) || c.id != X86_INS_CMP || c.memory || c.reg0 != load.element || c.reg1 != reg)
      return refuse();
    if (!take(line, c) || c.id != X86_INS_JNE) return refuse();
    jump.changed = c.target;
    return take(line, c);
  }
  if (!proveBase(line, jump))
    return fail(line, c.address, "nothing says which table a jump goes through"), false;
  return true;
}

bool CopyChecker::checkTableLoad(Line& line, const Code& original, bool& found) {
  found = false;
  // (The prefix notrack is that of ds.)
  const bool jumps = original.id == X86_INS_JMP && !original.direct;
  const bool loads = (original.id == X86_INS_MOVSXD && isElement(original, 4)) ||
                     (original.id == X86_INS_MOV && isElement(original, 8) && original.width == 8) ||
                     (jumps && original.memory && original.index != 0 && original.scale == 8 &&
                      (original.segment == 0 || original.segment == X86_REG_DS));
  const auto [origin, fixed] = originOf(*line.function, line.pc);
  if (!loads || !fixed || origin != original.address) return true;
  // A lookup begins with two spills.
  Code c, second;
  if (!code(line, c)) return false;
  if (isSpill(c, kSlot) && decode(m_file.elf, c.address + c.size, line.end, second) &&
      isSpill(second, kSlot + 8))
    return true;
  found = true;
  ++m_findings.tableJumps;
  const std::uint64_t start = line.pc;
  const auto refuse = [&] {
    return fail(line, c.address, "a jump through a table is not understood: " + text(c)), false;
  };
  Line::TableJump jump;
  jump.load = line.next;
  if (!understandTableJump(line, jump))
    return fail(line, start, "stands for no jump through a table: " + text(original)), false;
  if (!compareTableJump(line, jump, c)) return false;
  using enum Line::TableJump::Kind;
  if (jump.kind == Absolute) {
    if (c.id != original.id || c.size != original.size || c.element != 0 ||
        !std::ranges::equal(c.code().first(c.size - 4), original.code().first(c.size - 4)))
      return refuse();
    jump.table = std::uint64_t(c.disp);
  } else {
    if (c.id != X86_INS_MOVSXD || !isElement(c, 4) || c.width != 4 || c.element != original.element ||
        c.index != original.index)
      return refuse();
    jump.table = jump.original + std::uint64_t(c.disp);
    const unsigned to = c.reg0;
    if (jump.target == 16 && jump.scratch == 16) jump.scratch = unsigned(registerNumber(to));
    const unsigned due = jump.target != 16 ? jump.target : jump.scratch;
    if (registerNumber(to) != int(due) || due > 15 || due == 4 || due == jump.base) return refuse();
    jump.losesFlags = true;
    if (jump.kind == Addresses &&
        (!take(line, c) || c.id != X86_INS_ADD || c.memory || c.reg0 != to || c.reg1 != original.element))
      return refuse();
    if (jump.target == 16 && (!take(line, c) || c.id != X86_INS_JMP || c.direct || c.memory || c.reg0 != to))
      return refuse();
  }
  // Between it and the jump nothing needs the scratch.
  for (std::size_t i = jump.load + 1; i < jump.jump && jump.scratch != 16; ++i)
    if (((line.original[i].effects.reads.registers | line.original[i].changes) & 1U << jump.scratch) != 0)
      return fail(line, start, "a jump through a table uses a register that is needed"), false;
  if (!checkScratch(line, start, (*line.needs)[line.next], 0, jump.losesFlags)) return false;
  line.tableJumps.push_back(jump);
  return true;
}

// The original instructions from the load on, and the lookup of where they lead.
bool CopyChecker::checkSlowWays(Line& line) {
  for (const Line::TableJump& jump : line.tableJumps) {
    if (jump.slow == 0 && jump.changed == 0) continue;
    const std::uint64_t start = line.pc;
    Code c;
    if (jump.changed != 0 && jump.changed != line.pc)
      return fail(line, line.pc, "not where a jump leads that has another table"), false;
    if (jump.kept && jump.changed != 0 &&
        (!take(line, c) || c.id != X86_INS_MOV || c.memoryFirst || c.segment != X86_REG_FS || c.base != 0 ||
         c.index != 0 || c.disp != kSlot || registerNumber(c.reg0) != int(jump.scratch)))
      return fail(line, start, "a register is not restored; instead: " + text(c)), false;
    if (jump.slow != 0 && jump.slow != line.pc)
      return fail(line, line.pc, "not where a jump leads whose table has no such entry"), false;
    for (std::size_t i = jump.load; i <= jump.jump; ++i) {
      const Code& original = line.original[i];
      const std::uint64_t itself = line.pc;
      bool lookup = false;
      line.next = i;
      if (i == jump.jump ? !checkDispatch(line, original, lookup) : !checkInstruction(line, original, false))
        return false;
      if (lookup != (i == jump.jump)) return fail(line, itself, "no lookup of where a jump leads"), false;
      // (Who comes to the load has begun it where its own place is.)
      const bool again = i == jump.load;
      m_places.push_back(
          {again ? start : itself, again ? 0 : itself, line.pc, original.address, original.size});
    }
  }
  line.next = line.original.size();
  return true;
}

std::optional<std::uint64_t> CopyChecker::whereLeads(const Line::TableJump& jump, std::uint64_t index) const {
  if (jump.kind != Line::TableJump::Kind::Offsets) return m_words.address(jump.original + 8 * index);
  const auto offset = m_words.offset(jump.original + 4 * index);
  if (!offset) return std::nullopt;
  return jump.original + std::uint64_t(std::int64_t(*offset));
}

Needs CopyChecker::withoutSet(const Line::TableJump& jump, Needs needs) {
  needs.flags = std::uint8_t(needs.flags & ~jump.setBehindAdd);
  return needs;
}

//   [mov slot, scratch;] [lea original, target; [sub base, target; add base, target;]] jmp
bool CopyChecker::checkStub(Line& line, const Line::TableJump& jump, std::uint64_t original) {
  Code c;
  const std::uint64_t start = line.pc;
  const auto refuse = [&] { return fail(line, c.address, "no way into a copy: " + text(c)), false; };
  std::uint16_t lost = jump.lost();
  bool losesFlags = jump.losesFlags;
  if (!take(line, c)) return false;
  if (c.id == X86_INS_MOV) {
    if (!jump.kept || c.memoryFirst || c.segment != X86_REG_FS || c.base != 0 || c.index != 0 ||
        c.disp != kSlot || c.width != 8 || registerNumber(c.reg0) != int(jump.scratch) || !take(line, c))
      return refuse();
    lost = std::uint16_t(lost & ~(1U << jump.scratch));
  }
  if (c.id == X86_INS_LEA) {
    const unsigned reg = c.reg0;
    if (jump.target == 16 || registerNumber(reg) != int(jump.target) || c.ripTarget != original ||
        !take(line, c))
      return refuse();
    lost = std::uint16_t(lost & ~(1U << jump.target));
    // The add of the program's once more gives its flags.
    if (c.id == X86_INS_SUB) {
      const auto isDue = [&](unsigned id) {
        return c.id == id && !c.memory && c.size == 3 && c.reg0 == reg &&
               registerNumber(c.reg1) == int(jump.base);
      };
      if (jump.kind != Line::TableJump::Kind::Offsets || !jump.leavesFlagsOfAdd || !isDue(X86_INS_SUB) ||
          !take(line, c) || !isDue(X86_INS_ADD) || !take(line, c))
        return refuse();
      losesFlags = false;
    }
  }
  if (c.id != X86_INS_JMP || !c.direct) return refuse();
  const Needs all = withoutSet(
      jump, {0xFFFF, std::uint8_t(jump.kind == Line::TableJump::Kind::Offsets ? kStatusFlags : 0)});
  if (c.target == original) {
    if (!checkScratch(line, start, all, lost, losesFlags)) return false;
  } else {
    const Needs* needs = m_flags.needsAt(original);
    if (needs == nullptr || !checkScratch(line, start, withoutSet(jump, *needs), lost, losesFlags))
      return needs != nullptr;
    m_obligations.push_back({c.address, c.target, original, false, 0, line.keeps.value_or(false)});
  }
  const auto [origin, fixed] = originOf(*line.function, start);
  if (!fixed) return fail(line, start, "a way into a copy that stands for itself"), false;
  m_places.push_back({start, 0, line.pc, origin, 0});
  return true;
}

// At each index the copy's table leads to the copy of where the program's leads, or to that itself.
bool CopyChecker::checkEntries(Line& line) {
  struct Stub {
    const Line::TableJump* jump;
    std::uint64_t original;
  };
  std::map<std::uint64_t, std::vector<Stub>> stubs;
  const auto& entry = line.function->entry;
  for (const Line::TableJump& jump : line.tableJumps) {
    const bool absolute = jump.kind == Line::TableJump::Kind::Absolute;
    const unsigned size = absolute ? 8 : 4;
    const auto table = m_file.elf.at(jump.table, jump.entries * size);
    const bool writable = std::ranges::any_of(m_file.elf.segments(), [&](const Elf64_Phdr& segment) {
      return segment.p_type == PT_LOAD && (segment.p_flags & PF_W) != 0 && jump.table >= segment.p_vaddr &&
             jump.table < segment.p_vaddr + segment.p_memsz;
    });
    if (!table || writable) return fail(line, jump.table, "no table, or one that may change"), false;
    for (std::uint64_t i = 0; i < jump.entries; ++i) {
      const auto original = whereLeads(jump, i);
      if (!original)
        return fail(line, jump.table, std::format("entry {} of the original's table may change", i)), false;
      std::uint64_t to = 0;
      if (absolute) {
        std::memcpy(&to, table->data() + 8 * i, 8);
      } else {
        std::int32_t distance = 0;
        std::memcpy(&distance, table->data() + 4 * i, 4);
        to = jump.original + std::uint64_t(std::int64_t(distance));
      }
      const std::uint64_t place = jump.table + size * i;
      if (to >= line.pc && to < line.end) {
        stubs[to].push_back({&jump, *original});
      } else if (to == *original) {
        if (jump.scratch != 16)
          return fail(line, place, "leads to original code, which may need a register"), false;
        const auto block = line.blockAt.find(to);
        if (to - entry.original < entry.originalSize && block != line.blockAt.end() &&
            (line.function->blocks[block->second].flags & format::kBlockTableTarget) != 0)
          return fail(line, place, std::format("leads to {:#x}, not to its copy", to)), false;
      } else {
        const Needs* needs = m_flags.needsAt(*original);
        if (needs == nullptr)
          return fail(line, place, std::format("leads to {:#x} for {:#x}", to, *original)), false;
        if (!checkScratch(line, place, withoutSet(jump, *needs), jump.lost(), jump.losesFlags)) return false;
        m_obligations.push_back({place, to, *original, false, 0, line.keeps.value_or(false)});
      }
    }
  }
  while (!stubs.empty()) {
    const auto first = stubs.begin();
    if (first->first != line.pc) return fail(line, line.pc, "not where an entry of a table leads"), false;
    const std::uint64_t start = line.pc;
    const std::size_t places = m_places.size();
    for (const Stub& stub : first->second) {
      line.pc = start;
      m_places.resize(places);
      if (!checkStub(line, *stub.jump, stub.original)) return false;
    }
    stubs.erase(first);
  }
  return true;
}

}  // namespace traceback::truth
