// xmm15 is followed as flags are. Where nothing needs it, probes may keep the ring's cursor there: in whole
// functions in which no instruction names it, so that it holds the cursor from the first probe on, up to
// each call. (Who is called may be anybody's code, so it is loaded again behind calls, and at landing pads;
// but for calls of copies that keep it themselves up to where they return, for then it is there. Only a
// signal's handler that makes a copy go on in original code may break that, which the runtime notices: see
// kRoutineBroughtCursor, module.h.) What is called by a function that has a value there behind the call has
// to leave it alone, and so has what that calls, but for what is called through a pointer: who can keep a
// value over a call because he knows what is called finds no such calls there. A module of which some
// function that may be called through a pointer has a value of its caller's in xmm15, or in which a value is
// kept over such a call, or over one of code that cannot be read, has no such functions at all: its calling
// convention is not the usual.
#pragma once

#include "instrument/analysis/program.h"

namespace traceback::instrument {

// Sets Function::keepsCursor and enteredWithoutCursor. Needs findLiveness().
void findCursorKeepers(Program& program);

// Sets bringsCursor of functions and blocks. Needs Block::callee, and to know of all functions whether they
// are copied.
void findCursorBringers(Program& program);

}  // namespace traceback::instrument
