// Record routines (module.h): code of the instrumented modules that head probes share.
//
// A signal may interrupt one, and what it finds then is no state that the program has: the stack pointer is
// a word too low. So before anybody looks, the interrupted probe is brought to one of its ends: to where it
// calls the routine, with nothing done, or, if it has claimed its word, behind that call, with the record
// written.
#pragma once

#include <ucontext.h>

namespace traceback::inject {

// Call it before the interrupted segment is used, or given up, in the signal's handler.
void leaveRoutine(ucontext_t& context);

}  // namespace traceback::inject
