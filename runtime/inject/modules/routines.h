// Record routines (module.h): code of the instrumented modules that head probes share.
//
// A signal may interrupt one, and what it finds then is no state that the program has: the stack pointer is
// a word too low. So before anybody looks, the interrupted probe is done to its end: the record is written,
// and the thread goes on behind the call. (Never back to it: a program that steps itself would not get on.)
#pragma once

#include <ucontext.h>

namespace traceback::inject {

// Call it before the interrupted segment is used, or given up, in the signal's handler.
void leaveRoutine(ucontext_t& context);

}  // namespace traceback::inject
