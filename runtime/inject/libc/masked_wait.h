// Calls that wait with a signal mask of their own (sigsuspend, ppoll, pselect, epoll_pwait): a handler that
// interrupts one runs with that mask, though the context that the kernel gives it has the one before the
// call.
#pragma once

#include <signal.h>

#include "runtime/inject/rings/thread.h"
#include "runtime/inject/signals/mask.h"

namespace traceback::inject {

// Around such a call; a null mask changes none.
class MaskedWait {
 public:
  explicit MaskedWait(const sigset_t* mask) : m_before(thread().waitMask) {
    WaitMask own{};
    if (mask != nullptr) {
      own.blocked = bitsOf(*mask);
      own.inForce = true;
    }
    thread().waitMask = own;
  }
  ~MaskedWait() { thread().waitMask = m_before; }
  MaskedWait(const MaskedWait&) = delete;
  MaskedWait& operator=(const MaskedWait&) = delete;

 private:
  WaitMask m_before;
};

// Around a handler: nothing that it calls, or that runs once it was left by a jump, is in the call that it
// interrupted. A handler that came within the call gives back the mask of before, so the call, if it goes on,
// has none of its own any more.
class OutsideWait {
 public:
  explicit OutsideWait(bool interrupted) : m_before(interrupted ? WaitMask{} : thread().waitMask) {
    thread().waitMask = {};
  }
  ~OutsideWait() { thread().waitMask = m_before; }
  OutsideWait(const OutsideWait&) = delete;
  OutsideWait& operator=(const OutsideWait&) = delete;

 private:
  WaitMask m_before;
};

}  // namespace traceback::inject
