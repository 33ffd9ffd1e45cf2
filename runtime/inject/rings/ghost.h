// What a forked child has in the place of its parent's ring.
//
// The ring is mapped for the parent alone, but code that a signal interrupted, and whose handler forked, may
// hold the address of the ring's header or of a word, and goes on in the child: it writes to private memory
// there, which nobody reads.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include "runtime/inject/rings/thread.h"

namespace traceback::inject {

// Takes the place of the ring that the thread had in the parent, before anything else can be mapped there.
void makeGhost(Thread& thread);

// Where the interrupted code goes on in the child: one of its next heads comes to the runtime, which gives it
// a cursor of this process.
void leaveGhost(ucontext_t& context);

// To be called first by whatever the kernel calls for a signal: learns that this is a forked child, if it is.
// True if that is all that the signal means: a probe met the parent's ring, and now finds the ghost.
bool isForksFault(int signal, const siginfo_t& info);

}  // namespace traceback::inject
