// Indirect jumps within a function: switch tables, computed gotos.
//
// The program computes an original address, whatever way it likes. The copy looks that up among the places
// that such jumps are known to lead to and goes to their copies; any other address it jumps to as it is,
// which runs original code: untraced, but right. So nothing need be proved about the program's tables.
//
//       spill rax, rcx, rdx; rdx = target; keep the flags
//       for its own table and those of its kin:
//         rcx = rdx - lowest; if rcx < range and table[rcx] != 0: restore all, jump to table + table[rcx]
//       restore all, do the original jump
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "instrument/emit/code_builder.h"
#include "instrument/flow/function.h"

namespace traceback::instrument {

// A function, with the label of its table if that is in the same code.
struct DispatchTable {
  const Function* function = nullptr;
  std::optional<Label> label;
};

// All jumps of a function, and of its kin, share its table.
void emitDispatch(CodeBuilder& code, std::span<const DispatchTable> tables, const Instruction& jump,
                  std::span<const std::uint8_t> raw);
void emitDispatchTable(CodeBuilder& code, const Function& function, Label table,
                       std::span<const Label> blocks);

}  // namespace traceback::instrument
