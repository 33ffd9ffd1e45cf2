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

// xmm15 is followed as flags are. Where nothing needs it, probes may keep the ring's cursor there: in whole
// functions in which no instruction names it, so that it holds the cursor from the first probe on, up to
// each call. (Who is called may be anybody's code, so it is loaded again behind every call, and at landing
// pads.) What is called by a function that has a value there behind the call has to leave it alone, and so
// has what that calls, but for what is called through a pointer: who can keep a value over a call because he
// knows what is called finds no such calls there. A module of which some function that may be called through
// a pointer has a value of its caller's in xmm15, or in which a value is kept over such a call, or over one
// of code that cannot be read, has no such functions at all: its calling convention is not the usual.

// Fills Block::live and Block::liveFlags of all functions that have blocks. Needs Function::entered.
// `threads` as forEachIndex() has it.
void findLiveness(Program& program, unsigned threads = 0);

// Sets Function::keepsCursor and enteredWithoutCursor. Needs the above.
void findCursorKeepers(Program& program);

}  // namespace traceback::instrument
