// The six steps by instruction, for who looks at a disassembly. A place is a steppable entry and, where it is
// known, one of its instructions: those that begin in its ThreadTrace::code().
//
//   step   the next instruction that ran            back      the one before
//   over   the next that is not in a callee         backOver  the one before that is not in a callee
//   out    where the caller goes on                 backOut   the call that led here
//
// A frame is one of the machine here: what the compiler inlined is part of the function around it, so `over`
// goes into it and `out` leaves it together with that function.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "model/entry.h"
#include "model/stepping.h"

namespace traceback::model {

struct InstructionPlace {
  EntryIndex entry = 0;
  std::optional<VirtAddr> address;  // nothing where an entry has no code, as a gap
  friend bool operator==(const InstructionPlace&, const InstructionPlace&) = default;
};

// Where the instructions of a range of a module's code begin, ascending; empty if they cannot be read. An
// entry without any is one step.
using InstructionsOf = std::function<std::vector<VirtAddr>(ModuleId, const CodeRange&)>;

std::optional<InstructionPlace> stepInstruction(const ThreadTrace& thread, const InstructionPlace& from,
                                                Step how, const InstructionsOf& instructionsOf);

// The instruction that stands for an entry which was reached otherwise: the one that faulted, else the first.
std::optional<VirtAddr> standingInstruction(const Entry& entry);

}  // namespace traceback::model
