// Indirect jumps within a function that do not go by a table of the copy's (table_jump.h), or leave it.
//
// The program computes an original address, whatever way it likes. The copy looks that up among the places
// that such jumps are known to lead to and goes to their copies; any other address it jumps to as it is,
// which runs original code: untraced, but right. So nothing need be proved about the program's tables.
//
//       spill base, index; index = target
//       for its own table and those of its kin:
//         index -= lowest; if index < range and (i = table.index[index]) != 0: restore what the targets need,
//         jump to table + distance[i]
//       restore all, do the original jump
//
// base and index are registers that no known target needs, if there are such. Flags are kept only if they are
// live where the jump may lead, as far as is known (liveness.h): probes in front of it rely on the same.
//
// A table is read only, and lies behind all copies:
//       index[range], of one byte each, or two if there are more than 255 targets
//       zeros up to a multiple of four
//       distance[targets], of four bytes: the copy of the target, from the start of the table; i = 1 is the
//       first
#pragma once

#include <span>
#include <vector>

#include "instrument/emit/code_builder.h"
#include "instrument/flow/function.h"

namespace traceback::instrument {

// All jumps of a function, and of its kin, share its table. `functions`: in whose tables the jump looks.
// `live`: the flags that are needed where it leads.
void emitDispatch(CodeBuilder& code, std::span<const Function* const> functions, const Instruction& jump,
                  std::span<const std::uint8_t> raw, FlagSet live);

std::uint64_t dispatchTableSize(const Function& function);
// `out`: of that size. `copy`: where the function's copy is, from the start of the table; `blocks`: its
// blocks' places in it.
void writeDispatchTable(const Function& function, std::int64_t copy, std::span<const std::uint32_t> blocks,
                        std::span<std::byte> out);

}  // namespace traceback::instrument
