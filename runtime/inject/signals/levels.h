// Levels of signal handlers on a thread: which segment of its ring each writes to.
//
// The code that a handler interrupts may be in the middle of a DAG: its segment's cursor does not move
// until it goes on. So each level writes to a segment of its own. A handler that was left by a jump or a
// throw is noticed at the thread's next wrap, for the stack pointer is above its frame then.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <cstdint>

#include "runtime/inject/rings/thread.h"

namespace traceback::inject {

// What a handler's wrapper keeps on its stack between the two calls below.
struct Interrupted {
  SegmentHeader* segment;
  Spills spills;
  std::uint64_t generation;
  unsigned level;      // before; the handler's own is one more
  bool levelTaken;     // false if the thread records nothing, or the handlers nest too deep to count
  bool counted;        // in Thread::handlers
};

// The signal's arrival: takes a level and writes its SignalBegin. `flags` is of format::SignalFlag.
void beginSignal(Interrupted& interrupted, int signal, const siginfo_t& info, const ucontext_t& context,
                 std::uint16_t flags);
// The handler returned: writes its SignalEnd and gives the thread back as it was.
void endSignal(const Interrupted& interrupted, ucontext_t& context);

// Gives up the levels whose handlers were left, judged by the stack pointer. Only where no DAG is open.
// True if there were any.
bool leaveAbandonedLevels(Thread& thread, std::uint64_t stackPointer);

// Of the memory or the instruction that the signal is about; 0 if it is about none, or was sent.
std::uint64_t faultAddressOf(int signal, const siginfo_t& info);

// Whether that handler was left, judged by the stack pointer.
bool isAbandoned(const HandlerFrame& frame, std::uint64_t stackPointer);

// The program is about to jump out of something: looks again at this thread's next head probe.
void expectJump();

}  // namespace traceback::inject
