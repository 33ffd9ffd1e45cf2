// Functions of libc that change a thread's signal mask, or read pending signals, as the program means them
// (held_faults.h).
#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>

#include "runtime/inject/libc/libc.h"
#include "runtime/inject/signals/held_faults.h"
#include "runtime/inject/signals/mask.h"

using namespace traceback::inject;

#define EXPORTED extern "C" [[gnu::visibility("default")]]

namespace {

int changeBit(int how, int number) {
  sigset_t signals;
  sigemptyset(&signals);
  if (sigaddset(&signals, number) < 0) return -1;
  return sigprocmask(how, &signals, nullptr);
}

// Masks as BSD had them, of the first signals.
int changeFirst(int how, int mask) {
  sigset_t signals, previous;
  sigemptyset(&signals);
  putBits(signals, static_cast<unsigned>(mask));
  if (sigprocmask(how, &signals, &previous) < 0) return -1;
  return static_cast<int>(static_cast<unsigned>(bitsOf(previous)));
}

}  // namespace

EXPORTED int sigprocmask(int how, const sigset_t* next, sigset_t* previous) noexcept {
  findLibc();
  return changeMask(how, next, previous, libc.sigprocmask);
}
EXPORTED int pthread_sigmask(int how, const sigset_t* next, sigset_t* previous) noexcept {
  findLibc();
  return changeMask(how, next, previous, libc.pthreadSigmask);
}
EXPORTED int sigblock(int mask) noexcept { return changeFirst(SIG_BLOCK, mask); }
EXPORTED int sigsetmask(int mask) noexcept { return changeFirst(SIG_SETMASK, mask); }
EXPORTED int siggetmask() noexcept { return changeFirst(SIG_BLOCK, 0); }
EXPORTED int sighold(int number) noexcept { return changeBit(SIG_BLOCK, number); }
EXPORTED int sigrelse(int number) noexcept { return changeBit(SIG_UNBLOCK, number); }

EXPORTED int signalfd(int file, const sigset_t* signals, int flags) noexcept {
  findLibc();
  blockHeld(signals);
  return libc.signalfd(file, signals, flags);
}
