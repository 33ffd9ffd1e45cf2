// Breakpoints in place of the original code that has copies, for tests: whoever still comes there came by a
// way that was missed.
//
// Left as they are: entry windows; functions that are not copied, and whatever these, or code that belongs to
// no function, lead to by direct jumps and landing pads, for their control is meant to be in original code;
// functions whose bytes something reads.
#pragma once

#include <vector>

#include "instrument/elf/elf_writer.h"
#include "instrument/plan.h"

namespace traceback::instrument {

std::vector<Patch> poison(const Plan& plan);

}  // namespace traceback::instrument
