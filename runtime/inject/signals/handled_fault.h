// Faults that the program handles itself, as those do that write a report of their crash: the handler may
// raise the signal again, or end the process.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <cstdint>

#include "runtime/inject/rings/thread.h"

namespace traceback::inject {

// While it lives the program's handler of a signal runs, in the level that beginSignal() took. Of a fault it
// is kept which it was, and where the other threads were then: at most every few milliseconds, for some
// programs meet faults all the time. Of one within another's handler nothing is.
class FaultHandling {
 public:
  FaultHandling(int signal, const siginfo_t& info, const ucontext_t& context);
  ~FaultHandling();
  FaultHandling(const FaultHandling&) = delete;
  FaultHandling& operator=(const FaultHandling&) = delete;

 private:
  bool m_isKept = false;
};

// The fault in whose handler the calling thread runs, whose stack pointer is given; null if there is none.
const HandledFault* handledFault(std::uint64_t stackPointer);

// The fault that a fatal signal, not begun yet, follows: in its handler, or, for that blocked
// it or has changed nothing, as soon as the handler has come back.
const HandledFault* faultBehind(int signal, const ucontext_t& context);

}  // namespace traceback::inject
