// Which registers and flags carry a value at the start of each block.
//
// Registers: where control leaves a function, by a call, a return or a jump, all are taken to be live, for
// calling conventions do not bind functions that the compiler knows both sides of (-fipa-ra).
//
// Flags are followed through the whole module instead: into the functions that are called and jumped to
// directly, and back to wherever a call returns. Where that cannot be seen (indirect transfers, other
// modules) they are taken to carry what some function of the module that may be entered so looks at on entry,
// or some call on return: in compiled code, nothing.
#pragma once

#include "instrument/analysis/program.h"

namespace traceback::instrument {

// Fills Block::live and Block::liveFlags of all functions that have blocks. Needs Function::entered.
// `threads` as forEachIndex() has it.
void findLiveness(Program& program, unsigned threads = 0);

}  // namespace traceback::instrument
