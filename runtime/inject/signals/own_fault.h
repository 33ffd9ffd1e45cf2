// Faults of the runtime's own making, and of probes: memory of ours that the program has taken away, or that
// a forked child never had. They are let in wherever rings are written to, for a fault that is blocked ends
// the process.
#pragma once

#include <signal.h>
#include <ucontext.h>

namespace traceback::inject {

// To be called first by whatever the kernel calls for a signal: true if the program has no part in it, and
// the interrupted code is to go on. So it is
// - in a forked child, where a probe met the parent's ring (ghost.h);
// - where the thread's ring, or the process file, is not mapped any more: private memory takes its place. The
//   thread runs untraced from then on; what it recorded is still in its file;
// - where such a signal was sent, and came while the runtime let in faults only: it comes again.
bool isOwnFault(int signal, const siginfo_t& info, ucontext_t& context);

// Where no such fault can be met, or its signal is blocked: looks whether the calling thread's ring is still
// there. Makes one system call.
void leaveLostRing();

// The same of the process file, for whatever writes to it.
void leaveLostProcessFile();

}  // namespace traceback::inject
