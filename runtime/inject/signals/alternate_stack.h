// A stack of our own for each traced thread, so that the overflow of its stack can be recorded.
//
// The program is told that there is none. If it sets one itself, its own is used.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include "runtime/inject/rings/thread.h"

namespace traceback::inject {

// Unless the program has set one for this thread.
void makeAlternateStack(Thread& thread);
void dropAlternateStack(Thread& thread);

// sigaltstack as the program sees it. Zero or a negative error number.
long programSigaltstack(const stack_t* next, stack_t* previous);

// Shows in a signal's context what the program would see, and undoes that.
bool hideAlternateStack(const Thread& thread, ucontext_t& context, stack_t& hidden);
void showAlternateStack(ucontext_t& context, const stack_t& hidden);

}  // namespace traceback::inject
