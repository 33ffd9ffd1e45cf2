// Indirect jumps within a function: switch tables, computed gotos.
//
// The program computes an original address, whatever way it likes. The copy looks that up among the places
// that such jumps are known to lead to and goes to their copies; any other address it jumps to as it is,
// which runs original code: untraced, but right. So nothing need be proved about the program's tables.
//
//       spill rax, rcx, rdx; rdx = target; keep the flags
//       rcx = rdx - lowest; if rcx >= range or table[rcx] == 0: restore all, do the original jump
//       restore all, jump to table + table[rcx]
#pragma once

#include <span>
#include <vector>

#include "instrument/emit/code_builder.h"
#include "instrument/flow/function.h"

namespace traceback::instrument {

// All jumps of a function share its table.
void emitDispatch(CodeBuilder& code, const Function& function, const Instruction& jump,
                  std::span<const std::uint8_t> raw, Label table);
void emitDispatchTable(CodeBuilder& code, const Function& function, Label table,
                       std::span<const Label> blocks);

}  // namespace traceback::instrument
