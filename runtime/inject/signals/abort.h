// libc's abort(): it sends SIGABRT to its thread, and if that comes back, or is blocked or ignored, has the
// kernel end the process, and calls nobody. (Before 2.41 it lets the signal in first.)
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <cstdint>

namespace traceback::inject {

// The program calls it; its frames lie below `frame`.
void expectAbort(std::uint64_t frame);

// Whether the thread was interrupted in abort(), libc's own calls of it included: by the signal that it sent,
// or while that is handled.
bool isInAbort(int signal, const ucontext_t& context);

// What libc said of why it aborts the process: an assertion, a damaged heap or stack. It stays as it is where
// nothing was said.
void copyAbortMessage(std::uint8_t (&to)[256]);

// Whether what libc aborts with stays blocked, so that it has to be held (held_faults.h).
bool abortLeavesMask();

}  // namespace traceback::inject
