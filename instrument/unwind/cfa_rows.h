// The table that an unwind program stands for: how to find the caller's frame, by ranges of addresses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "instrument/unwind/byte_sink.h"
#include "instrument/unwind/eh_frame.h"
#include "model/error.h"

namespace traceback::instrument {

// Where the canonical frame address is.
struct CfaRule {
  bool defined = false;
  bool isExpression = false;
  std::uint64_t baseRegister = 0;
  std::int64_t offset = 0;
  std::span<const std::byte> expression;

  friend bool operator==(const CfaRule& a, const CfaRule& b);
};

// Where a register of the caller is. A register without a rule is as the ABI has it.
struct RegisterRule {
  enum class Kind : std::uint8_t {
    Undefined,
    SameValue,
    Offset,
    Register,
    Expression,
    ValueExpression,
    Restored
  };

  std::uint64_t reg = 0;
  Kind kind = Kind::SameValue;
  std::int64_t operand = 0;               // Offset: in units of the data alignment; Register: its number
  std::span<const std::byte> expression;  // *Expression

  friend bool operator==(const RegisterRule& a, const RegisterRule& b);
};

// What holds from an address on.
struct UnwindState {
  CfaRule cfa;
  std::vector<RegisterRule> rules;  // sorted by register
  std::uint64_t argumentsSize = 0;  // DW_CFA_GNU_args_size

  friend bool operator==(const UnwindState&, const UnwindState&) = default;
};

struct UnwindRow {
  std::uint64_t offset = 0;  // from the function's start; the row holds up to the next one's
  UnwindState state;
};

struct UnwindRows {
  UnwindState initial;          // after the common part's program
  std::vector<UnwindRow> rows;  // sorted; the first is at 0

  const UnwindState& at(std::uint64_t offset) const;
};

// Runs the programs. Refuses what does not mean the same in a copy or is not known: DW_CFA_set_loc,
// val_offset, expressions that use the program counter or absolute addresses, opcodes of other machines.
model::Result<UnwindRows> unwindRows(const Cie& cie, const Fde& fde);

// Appends the instructions that turn one state of a function into another.
void appendTransition(ByteSink& program, const UnwindState& from, const UnwindState& to);

// Appends DW_CFA_advance_loc*; `distance` is above zero and fits 32 bits. For a code alignment of 1.
void appendAdvance(ByteSink& program, std::uint64_t distance);

}  // namespace traceback::instrument
