// Signals of faults that the program has blocked and the kernel has not.
//
// A fault whose signal is blocked ends the process before anybody is called (signal(7)), so nobody could look
// at it. Hence the kernel's mask of a traced thread leaves these signals open (SIGSEGV, SIGBUS, SIGILL,
// SIGFPE, and SIGABRT where abort() would leave it blocked), and what the program has of them in its mask is
// kept here: "held". When one arrives
// - from a fault, or from abort(), the process ends by it as it would have, recorded (fault.h);
// - because somebody sent it, it is put off: blocked by the kernel, too, from then on, and sent again.
// The program is shown its own mask, in signals' contexts too, and hands it on to what it executes and to its
// threads. /proc/PID/status shows the kernel's.
//
// Nothing is held behind a filter of system calls, or in a thread whose storage others have, too. In a vfork
// child, whose memory is its parent's, the kernel's mask is the program's from the first call here on.
#pragma once

#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include <cstdint>

namespace traceback::inject {

// From now on, those of the five that `signals` has.
void beginHolding(std::uint64_t signals);

// The thread has begun to record, and has `blocked` in the kernel's mask: holds what may be held of that.
void holdBlocked(std::uint64_t blocked);

// sigprocmask as the program sees it, `real` being the libraries' behind this one, and what that returns.
int changeMask(int how, const sigset_t* next, sigset_t* previous,
               int (*real)(int, const sigset_t*, sigset_t*));

// Before a call that takes such signals, which have to be blocked for that, from the kernel.
void blockHeld(const sigset_t* signals);

// Before filters: nothing is held by the calling thread any more.
void blockAllHeld();

// Whether the program has a signal that has arrived blocked, so that no handler of its own may run.
bool isHeld(int signal);
// A held signal that was sent: true if it comes again when the program lets it in.
bool isPutOffAsHeld(int signal, const siginfo_t& info, ucontext_t& context);
// Has the signal come again once the mask that the handler returns to has it open; blocks it there.
bool putOff(int signal, const siginfo_t& info, ucontext_t& context);

// Around a handler of the program's: its context shows the program's mask, and what it makes of that holds.
class HandlersMask {
 public:
  explicit HandlersMask(ucontext_t& context);
  ~HandlersMask();
  // The kernel's mask, for the program's.
  static std::uint64_t enter(std::uint64_t blocked);
  HandlersMask(const HandlersMask&) = delete;
  HandlersMask& operator=(const HandlersMask&) = delete;

 private:
  ucontext_t& m_context;
};

// Around calls that make threads or programs, which have the kernel's mask: what is held is blocked
// meanwhile.
class HeldBlocked {
 public:
  HeldBlocked();
  ~HeldBlocked();
  HeldBlocked(const HeldBlocked&) = delete;
  HeldBlocked& operator=(const HeldBlocked&) = delete;

 private:
  std::uint64_t m_held;
};

// sigsetjmp and siglongjmp keep the kernel's mask: what is held is noted beside it.
void noteHeldInJump(jmp_buf target);
void holdAsJumpDid(const __jmp_buf_tag* target);

}  // namespace traceback::inject
