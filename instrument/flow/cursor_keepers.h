// xmm15 is followed as flags are. Where nothing needs it, probes may keep the ring's cursor there: in whole
// functions in which no instruction names it, so that it holds the cursor from the first probe on, up to
// each call. (Who is called may be anybody's code, so it is loaded again behind every call, and at landing
// pads.) What is called by a function that has a value there behind the call has to leave it alone, and so
// has what that calls, but for what is called through a pointer: who can keep a value over a call because he
// knows what is called finds no such calls there. A module of which some function that may be called through
// a pointer has a value of its caller's in xmm15, or in which a value is kept over such a call, or over one
// of code that cannot be read, has no such functions at all: its calling convention is not the usual.
#pragma once

#include "instrument/analysis/program.h"

namespace traceback::instrument {

// Sets Function::keepsCursor and enteredWithoutCursor. Needs findLiveness().
void findCursorKeepers(Program& program);

}  // namespace traceback::instrument
