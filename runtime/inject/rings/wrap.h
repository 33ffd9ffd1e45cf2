// Head probes whose sub-buffer is full (wrap.S), and that are given a cursor that has a word behind it.
//
// Nearly always that is a step to the next sub-buffer, done without a system call, and so with signals let in
// (where a system call costs a microsecond, those that block them and let them in again would cost a tenth of
// a program's time). Whoever is interrupted there is given a cursor with signals blocked, and goes on behind
// the wrap, before anybody looks: a handler may fork or jump away, and is to be told a place in the program.
#pragma once

#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "runtime/inject/rings/thread.h"

namespace traceback::inject {

inline constexpr unsigned kWrapRegisters = 15;  // the first words of the frame
inline constexpr std::uint64_t kWrapFrameSize = (kWrapRegisters + 2) * 8 + 128;

// Call it before the interrupted segment is used, or given up, in the signal's handler; and before
// leaveRoutine(), for the wrap may be a routine's.
void leaveWrap(int signal, const siginfo_t& info, ucontext_t& context);

// Into xmm15, as the interrupted copy finds it.
inline void putKeptCursor(ucontext_t& context, const Word* cursor) {
  if (context.uc_mcontext.fpregs != nullptr)
    memcpy(&context.uc_mcontext.fpregs->_xmm[15], static_cast<const void*>(&cursor), sizeof cursor);
}

// Gives whatever register of interrupted code leads into the words of this ring lastCursor() instead, so that
// its next head, or the one after it, comes to the runtime. Nobody but probes knows such an address.
void divertCursors(ucontext_t& context, std::uint64_t ring, std::uint64_t size);

}  // namespace traceback::inject

extern "C" {
// What the entries in wrap.S call first: a cursor, or null if that takes more than a step. `frame` is what
// they have made below the function's stack pointer: words for r15 to r8, rbp, rdi, rsi, rbx, rcx, rdx and
// rax, the flags, and where the copy goes on, from the lowest on, and then the red zone; `scratch` is the
// number of the word that the cursor goes to.
traceback::inject::Word* traceback_step(std::uint64_t frame, std::uint32_t scratch, bool keepsCursor);
// The cursor, whatever it takes. `stackPointer` is the function's, and `registers` the first kWrapRegisters
// words of the frame, or null: where the thread has another segment from now on, those that have the address
// of the former one's header get the new one's.
traceback::inject::Word* traceback_wrap(std::uint64_t stackPointer, std::uint64_t* registers);
}
