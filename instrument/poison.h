// Breakpoints in place of the original code that has copies, for tests: whoever still comes there came by a
// way that was missed.
//
// Left as they are: entry windows; functions that are not copied, or whose entries do not lead to the copy,
// and whatever these, or code that belongs to no function, lead to by direct jumps and landing pads, for
// their control is meant to be in original code; functions whose bytes something reads; functions that have
// an address within them taken to which no indirect jump is known to lead, as where computed gotos go through
// a thunk: what comes back that way runs original code by design.
#pragma once

#include <vector>

#include "instrument/elf/elf_writer.h"
#include "instrument/plan.h"

namespace traceback::instrument {

std::vector<Patch> poison(const Plan& plan);

}  // namespace traceback::instrument
