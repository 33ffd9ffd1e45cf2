#include "instrument/unwind/cfa_rows.h"

#include <dwarf.h>

#include <format>

namespace traceback::instrument {

using model::fail;
using model::Result;
using Kind = RegisterRule::Kind;

namespace {

bool sameBytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::ranges::equal(a, b);
}

constexpr std::uint64_t kInstructionPointer = 16;

// More than any function has; a damaged program could otherwise take memory without end.
constexpr std::size_t kMaxRules = 64;
constexpr std::size_t kMaxRemembered = 64;

// Whether an expression gives the same result in a copy of the code: it may use registers other than the
// program counter, constants, memory and arithmetic, and nothing else.
bool isPositionFree(std::span<const std::byte> expression) {
  ByteCursor cursor(expression);
  while (cursor.left() > 0) {
    const auto op = cursor.read<std::uint8_t>();
    if (op >= DW_OP_lit0 && op <= DW_OP_lit31) continue;
    if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
      if (op - DW_OP_breg0 == kInstructionPointer) return false;
      cursor.sleb();
      continue;
    }
    switch (op) {
      case DW_OP_const1u:
      case DW_OP_const1s:
      case DW_OP_pick:
      case DW_OP_deref_size:
        cursor.take(1);
        break;
      case DW_OP_const2u:
      case DW_OP_const2s:
      case DW_OP_bra:
      case DW_OP_skip:
        cursor.take(2);
        break;
      case DW_OP_const4u:
      case DW_OP_const4s:
        cursor.take(4);
        break;
      case DW_OP_const8u:
      case DW_OP_const8s:
        cursor.take(8);
        break;
      case DW_OP_constu:
      case DW_OP_plus_uconst:
        cursor.uleb();
        break;
      case DW_OP_consts:
        cursor.sleb();
        break;
      case DW_OP_bregx:
        if (cursor.uleb() == kInstructionPointer) return false;
        cursor.sleb();
        break;
      case DW_OP_dup:
      case DW_OP_drop:
      case DW_OP_over:
      case DW_OP_swap:
      case DW_OP_rot:
      case DW_OP_deref:
      case DW_OP_abs:
      case DW_OP_and:
      case DW_OP_div:
      case DW_OP_minus:
      case DW_OP_mod:
      case DW_OP_mul:
      case DW_OP_neg:
      case DW_OP_not:
      case DW_OP_or:
      case DW_OP_plus:
      case DW_OP_shl:
      case DW_OP_shr:
      case DW_OP_shra:
      case DW_OP_xor:
      case DW_OP_eq:
      case DW_OP_ge:
      case DW_OP_gt:
      case DW_OP_le:
      case DW_OP_lt:
      case DW_OP_ne:
      case DW_OP_nop:
        break;
      default:
        return false;
    }
  }
  return !cursor.failed();
}

class Runner {
 public:
  Runner(const Cie& cie, std::uint64_t entry) : m_cie(cie), m_entry(entry) {}

  Result<void> run(std::span<const std::byte> program, bool common) {
    ByteCursor cursor(program);
    while (cursor.left() > 0) {
      if (auto done = step(cursor, common); !done) return done;
      if (cursor.failed()) return error("truncated program");
      if (m_state.cfa.offset < 0) return error("negative frame offset");
      if (m_state.rules.size() > kMaxRules || m_remembered.size() > kMaxRemembered)
        return error("too much state");
    }
    return {};
  }
  void finishCommon() { m_initial = m_state; }
  UnwindRows takeRows(std::uint64_t size) {
    closeRow();
    std::erase_if(m_rows, [&](const UnwindRow& row) { return row.offset != 0 && row.offset >= size; });
    return {.initial = std::move(m_initial), .rows = std::move(m_rows)};
  }

 private:
  std::unexpected<model::Error> error(std::string what) const {
    return fail(std::format("unwind program of the entry at {:#x}: {}", m_entry, what));
  }

  void closeRow() {
    if (!m_rows.empty() && m_rows.back().offset == m_offset) m_rows.pop_back();
    if (m_rows.empty() || !(m_rows.back().state == m_state)) {
      m_rows.push_back({.offset = m_offset, .state = m_state});
    }
  }

  Result<void> advance(std::uint64_t units, bool common) {
    if (common) return error("the common part moves on");
    closeRow();
    m_offset += units;  // at most 2^32 units each, from a program that is in memory: cannot wrap
    return {};
  }

  void set(RegisterRule rule) {
    const auto place = std::ranges::lower_bound(m_state.rules, rule.reg, {}, &RegisterRule::reg);
    if (place != m_state.rules.end() && place->reg == rule.reg) {
      *place = rule;
    } else {
      m_state.rules.insert(place, rule);
    }
  }

  // Unwinders differ in whether this gives a register the common part's rule or none; so where there is
  // such a rule, it stays what it is.
  void restore(std::uint64_t reg) {
    if (std::ranges::contains(m_initial.rules, reg, &RegisterRule::reg)) {
      set({.reg = reg, .kind = Kind::Restored, .operand = 0, .expression = {}});
    } else {
      std::erase_if(m_state.rules, [&](const RegisterRule& rule) { return rule.reg == reg; });
    }
  }

  std::int64_t scaled(std::int64_t factor) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(factor) *
                                     static_cast<std::uint64_t>(m_cie.dataAlignment));
  }

  Result<void> setExpression(ByteCursor& cursor, Kind kind) {
    const auto reg = cursor.uleb();
    const auto expression = cursor.take(cursor.uleb());
    if (!isPositionFree(expression)) return error("an expression that a copy cannot have");
    set({.reg = reg, .kind = kind, .operand = 0, .expression = expression});
    return {};
  }

  Result<void> step(ByteCursor& cursor, bool common);

  const Cie& m_cie;
  std::uint64_t m_entry;
  std::uint64_t m_offset = 0;
  UnwindState m_state, m_initial;
  std::vector<UnwindState> m_remembered;
  std::vector<UnwindRow> m_rows;
};

Result<void> Runner::step(ByteCursor& cursor, bool common) {
  const auto opcode = cursor.read<std::uint8_t>();
  const std::uint8_t low = opcode & 0x3FU;
  const auto offsetRule = [&](std::uint64_t reg, std::int64_t operand) {
    set({.reg = reg, .kind = Kind::Offset, .operand = operand, .expression = {}});
  };
  switch (opcode & 0xC0U) {
    case DW_CFA_advance_loc:
      return advance(low, common);
    case DW_CFA_offset:
      offsetRule(low, static_cast<std::int64_t>(cursor.uleb()));
      return {};
    case DW_CFA_restore:
      if (common) return error("restore in the common part");
      restore(low);
      return {};
    default:
      break;
  }
  CfaRule& cfa = m_state.cfa;
  const auto plain = [](std::uint64_t reg, std::int64_t offset) {
    return CfaRule{
        .defined = true, .isExpression = false, .baseRegister = reg, .offset = offset, .expression = {}};
  };
  const bool movable = cfa.defined && !cfa.isExpression;
  switch (opcode) {
    case DW_CFA_nop:
      return {};
    case DW_CFA_advance_loc1:
      return advance(cursor.read<std::uint8_t>(), common);
    case DW_CFA_advance_loc2:
      return advance(cursor.read<std::uint16_t>(), common);
    case DW_CFA_advance_loc4:
      return advance(cursor.read<std::uint32_t>(), common);
    case DW_CFA_offset_extended: {
      const auto reg = cursor.uleb();
      offsetRule(reg, static_cast<std::int64_t>(cursor.uleb()));
      return {};
    }
    case DW_CFA_offset_extended_sf: {
      const auto reg = cursor.uleb();
      offsetRule(reg, cursor.sleb());
      return {};
    }
    case DW_CFA_restore_extended:
      if (common) return error("restore in the common part");
      restore(cursor.uleb());
      return {};
    case DW_CFA_undefined:
      set({.reg = cursor.uleb(), .kind = Kind::Undefined, .operand = 0, .expression = {}});
      return {};
    case DW_CFA_same_value:
      set({.reg = cursor.uleb(), .kind = Kind::SameValue, .operand = 0, .expression = {}});
      return {};
    case DW_CFA_register: {
      const auto reg = cursor.uleb();
      const auto other = cursor.uleb();
      set({.reg = reg,
           .kind = Kind::Register,
           .operand = static_cast<std::int64_t>(other),
           .expression = {}});
      return {};
    }
    case DW_CFA_remember_state:
      m_remembered.push_back(m_state);
      return {};
    case DW_CFA_restore_state: {
      if (m_remembered.empty()) return error("restore_state without remember_state");
      const auto arguments = m_state.argumentsSize;  // not a part of what is remembered
      m_state = std::move(m_remembered.back());
      m_state.argumentsSize = arguments;
      m_remembered.pop_back();
      return {};
    }
    case DW_CFA_def_cfa: {
      const auto reg = cursor.uleb();
      cfa = plain(reg, static_cast<std::int64_t>(cursor.uleb()));
      return {};
    }
    case DW_CFA_def_cfa_sf: {
      const auto reg = cursor.uleb();
      cfa = plain(reg, scaled(cursor.sleb()));
      return {};
    }
    case DW_CFA_def_cfa_register:
      if (!movable) return error("frame address rule without one to change");
      cfa.baseRegister = cursor.uleb();
      return {};
    case DW_CFA_def_cfa_offset:
      if (!movable) return error("frame address rule without one to change");
      cfa.offset = static_cast<std::int64_t>(cursor.uleb());
      return {};
    case DW_CFA_def_cfa_offset_sf:
      if (!movable) return error("frame address rule without one to change");
      cfa.offset = scaled(cursor.sleb());
      return {};
    case DW_CFA_def_cfa_expression: {
      const auto expression = cursor.take(cursor.uleb());
      if (!isPositionFree(expression)) return error("an expression that a copy cannot have");
      cfa = {.defined = true, .isExpression = true, .baseRegister = 0, .offset = 0, .expression = expression};
      return {};
    }
    case DW_CFA_expression:
      return setExpression(cursor, Kind::Expression);
    case DW_CFA_val_expression:
      return setExpression(cursor, Kind::ValueExpression);
    case DW_CFA_GNU_args_size:
      m_state.argumentsSize = cursor.uleb();
      return {};
    default:
      return error(std::format("opcode {:#x}", opcode));
  }
}

void appendRule(ByteSink& program, const RegisterRule& rule) {
  const auto expression = [&](std::uint8_t opcode) {
    program.byte(opcode);
    program.uleb(rule.reg);
    program.uleb(rule.expression.size());
    program.append(rule.expression);
  };
  switch (rule.kind) {
    case Kind::Undefined:
      program.byte(DW_CFA_undefined);
      program.uleb(rule.reg);
      break;
    case Kind::SameValue:
      program.byte(DW_CFA_same_value);
      program.uleb(rule.reg);
      break;
    case Kind::Register:
      program.byte(DW_CFA_register);
      program.uleb(rule.reg);
      program.uleb(static_cast<std::uint64_t>(rule.operand));
      break;
    case Kind::Offset:
      if (rule.operand < 0) {
        program.byte(DW_CFA_offset_extended_sf);
        program.uleb(rule.reg);
        program.sleb(rule.operand);
        break;
      }
      if (rule.reg < 64) {
        program.byte(DW_CFA_offset | rule.reg);
      } else {
        program.byte(DW_CFA_offset_extended);
        program.uleb(rule.reg);
      }
      program.uleb(static_cast<std::uint64_t>(rule.operand));
      break;
    case Kind::Expression:
      expression(DW_CFA_expression);
      break;
    case Kind::ValueExpression:
      expression(DW_CFA_val_expression);
      break;
    case Kind::Restored:
      if (rule.reg < 64) {
        program.byte(DW_CFA_restore | rule.reg);
      } else {
        program.byte(DW_CFA_restore_extended);
        program.uleb(rule.reg);
      }
      break;
  }
}

void appendCfa(ByteSink& program, const CfaRule& from, const CfaRule& to) {
  if (to.isExpression) {
    program.byte(DW_CFA_def_cfa_expression);
    program.uleb(to.expression.size());
    program.append(to.expression);
    return;
  }
  const bool movable = from.defined && !from.isExpression && to.offset >= 0;
  if (movable && from.baseRegister == to.baseRegister) {
    program.byte(DW_CFA_def_cfa_offset);
    program.uleb(static_cast<std::uint64_t>(to.offset));
  } else if (movable && from.offset == to.offset) {
    program.byte(DW_CFA_def_cfa_register);
    program.uleb(to.baseRegister);
  } else {
    program.byte(DW_CFA_def_cfa);
    program.uleb(to.baseRegister);
    program.uleb(static_cast<std::uint64_t>(to.offset));
  }
}

}  // namespace

bool operator==(const CfaRule& a, const CfaRule& b) {
  return a.defined == b.defined && a.isExpression == b.isExpression && a.baseRegister == b.baseRegister &&
         a.offset == b.offset && sameBytes(a.expression, b.expression);
}

bool operator==(const RegisterRule& a, const RegisterRule& b) {
  return a.reg == b.reg && a.kind == b.kind && a.operand == b.operand &&
         sameBytes(a.expression, b.expression);
}

const UnwindState& UnwindRows::at(std::uint64_t offset) const {
  return std::ranges::prev(std::ranges::upper_bound(rows, offset, {}, &UnwindRow::offset))->state;
}

Result<UnwindRows> unwindRows(const Cie& cie, const Fde& fde) {
  Runner runner(cie, fde.offset);
  if (cie.codeAlignment != 1)
    return fail(std::format("unwind entry at {:#x}: code alignment is not 1", fde.offset));
  if (auto done = runner.run(cie.program, true); !done) return std::unexpected(done.error());
  runner.finishCommon();
  if (auto done = runner.run(fde.program, false); !done) return std::unexpected(done.error());
  return runner.takeRows(fde.size);
}

void appendTransition(ByteSink& program, const UnwindState& from, const UnwindState& to) {
  if (!(from.cfa == to.cfa)) appendCfa(program, from.cfa, to.cfa);
  // Registers that lose their rule have none in the common part either (see Runner::restore).
  for (const auto& rule : from.rules) {
    if (std::ranges::contains(to.rules, rule.reg, &RegisterRule::reg)) continue;
    appendRule(program, {.reg = rule.reg, .kind = Kind::Restored, .operand = 0, .expression = {}});
  }
  for (const auto& rule : to.rules) {
    if (!std::ranges::contains(from.rules, rule)) appendRule(program, rule);
  }
  if (from.argumentsSize != to.argumentsSize) {
    program.byte(DW_CFA_GNU_args_size);
    program.uleb(to.argumentsSize);
  }
}

void appendAdvance(ByteSink& program, std::uint64_t distance) {
  if (distance < 0x40) {
    program.byte(DW_CFA_advance_loc | distance);
  } else if (distance < 0x100) {
    program.byte(DW_CFA_advance_loc1);
    program.value(distance, 1);
  } else if (distance < 0x1'0000) {
    program.byte(DW_CFA_advance_loc2);
    program.value(distance, 2);
  } else {
    program.byte(DW_CFA_advance_loc4);
    program.value(distance, 4);
  }
}

}  // namespace traceback::instrument
