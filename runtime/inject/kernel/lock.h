// A lock between the threads of one process, without libc.
//
// Hold it only with signals blocked, so that no handler waits for the code that it interrupted; forget it (a
// new one in its place) in a forked child. Who has to wait sleeps, for what is done under such a lock may
// take a millisecond: a ring is made, say. Whoever yielded instead would take the processor, again and again,
// from whom he waits for.
#pragma once

#include <linux/futex.h>

#include "runtime/inject/kernel/system.h"

namespace traceback::inject {

class Lock {
 public:
  bool tryLock() {
    unsigned expected = kFree;
    return __atomic_compare_exchange_n(&m_state, &expected, kTaken, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
  }
  void lock() {
    for (unsigned round = 0; round < kRounds; ++round) {
      if (tryLock()) return;
      __builtin_ia32_pause();
    }
    while (__atomic_exchange_n(&m_state, kAwaited, __ATOMIC_ACQUIRE) != kFree)
      systemCall(__NR_futex, asLong(&m_state), FUTEX_WAIT_PRIVATE, kAwaited);
  }
  void unlock() {
    if (__atomic_exchange_n(&m_state, kFree, __ATOMIC_RELEASE) == kAwaited)
      systemCall(__NR_futex, asLong(&m_state), FUTEX_WAKE_PRIVATE, 1);
  }

 private:
  // A sleeping thread is taken to wait for what its awaited value says (runtime/collect/watch/thread_wait.h):
  // this one is no pthread mutex's (2), no thread's number (below 2^22) and no owner's (FUTEX_WAITERS).
  static constexpr unsigned kFree = 0, kTaken = 1, kAwaited = 0x4000'0000;
  static constexpr unsigned kRounds = 64;

  unsigned m_state = kFree;
};

class Locked {
 public:
  explicit Locked(Lock& lock) : m_lock(lock) { m_lock.lock(); }
  ~Locked() { m_lock.unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  SignalsBlocked m_blocked;
  Lock& m_lock;
};

}  // namespace traceback::inject
