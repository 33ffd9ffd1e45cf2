// Which registers and flags carry a value at the start of each block.
//
// Both are followed through the whole module: into the functions that are called and jumped to directly, and
// back to wherever a call returns; so what a function expects of another, by whatever convention (-fipa-ra,
// hand-written code), is seen at both ends. A register is dead before a call only if the callee does not read
// it before it writes it, and it is dead behind the call too: nobody is trusted to change any.
//
// Where it cannot be seen (indirect transfers, other modules) flags are taken to carry what some function of
// the module that may be entered so looks at on entry, or some call on return: in compiled code, nothing.
// Registers are taken to carry more. Others may be passed all but r11, which linkers' stubs change, and leave
// alone what is live behind their calls. They are returned rax, rdx, rcx, r8 and those that callees keep, and
// whatever else functions of the module are said to keep for their callers (ms_abi), or are expected to. From
// functions of other conventions, as far as they can be told (see conventions.h and restored_registers.h),
// they are returned all.
#pragma once

#include "instrument/analysis/program.h"

namespace traceback::instrument {

// Those that calls leave as they are, by the psABI: rbx, rsp, rbp, r12 to r15. They are live wherever control
// leaves a function, if only for whoever unwinds.
inline constexpr RegisterSet kKeptByCallees = 0xF038;
// And what anybody may have back of whom he does not know: rax and rdx, and as some compilers return what
// does not fit into these, rcx and r8.
inline constexpr RegisterSet kReturned = kKeptByCallees | 0x0107;

// Fills Block::live and Block::liveFlags of all functions that have blocks. Needs Function::entered and
// named. Unless `followRegisters`, all registers are live wherever control leaves a function. `threads` as
// forEachIndex() has it.
void findLiveness(Program& program, bool followRegisters, unsigned threads = 0);

}  // namespace traceback::instrument
