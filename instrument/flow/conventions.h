// What is unusual about how a module's functions are called and come back.
#pragma once

#include "instrument/analysis/program.h"

namespace traceback::instrument {

// Sets Function::returnsToAnybody, for functions
//
// - that are called by code that is not read;
// - that read registers on entry in which nothing is passed, but for what they keep for their callers: others
//   than the psABI's are passed there, and others kept (OCaml's r14 and r15);
// - of which it is not certain that the return address is the one that they were entered with (setcontext(3)
//   pushes another, into which it returns with all registers set). It is where the function's unwind rules
//   agree with each other, along its code, in how far each instruction moves the stack pointer, and in where
//   the return address is at the return: that of no compiler fails there;
//
// and for those in whom such functions go on.
//
// Returns the registers that some function is said to have kept for its callers, though callers of other
// functions expect nothing there (ms_abi, preserve_most): the caller-saved ones with a place in its frame.
// Those that it does not change it would keep too without saying so.
// `threads` as forEachIndex() has it.
RegisterSet readConventions(Program& program, unsigned threads = 0);

}  // namespace traceback::instrument
