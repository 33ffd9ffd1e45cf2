// Whether a lock, a condition or a semaphore looks taken, or waited for, by its memory as glibc has had it on
// x86-64 since 2.25. Where it has changed meanwhile a reading of the clock is missing, or one too many.
#pragma once

#include <pthread.h>
#include <semaphore.h>

#include <cstdint>

#include "runtime/inject/rings/ring.h"
#include "runtime/inject/rings/thread.h"

namespace traceback::inject {

inline std::uint32_t peek(const volatile void* word) {
  return __atomic_load_n(static_cast<const volatile std::uint32_t*>(word), __ATOMIC_RELAXED);
}

inline bool isTaken(const pthread_mutex_t* mutex) {
  if (peek(&mutex->__data.__lock) == 0) return false;
  const Thread& t = thread();  // recursively by this thread: no wait
  return t.ring == nullptr || static_cast<std::uint32_t>(mutex->__data.__owner) != t.ring->tid;
}
inline constexpr std::uint32_t kWriteLocked = 2, kReadersShift = 3;
inline bool isTakenByWriter(const pthread_rwlock_t* lock) {
  return (peek(&lock->__data.__readers) & kWriteLocked) != 0;
}
inline bool isTakenByAnybody(const pthread_rwlock_t* lock) {
  const std::uint32_t readers = peek(&lock->__data.__readers);
  return (readers & kWriteLocked) != 0 || (readers >> kReadersShift) != 0;
}
inline bool isTaken(const sem_t* semaphore) { return peek(semaphore) == 0; }
inline bool isWaitedFor(const sem_t* semaphore) {
  return peek(reinterpret_cast<const std::uint32_t*>(semaphore) + 1) != 0;
}
inline bool isWaitedFor(const pthread_mutex_t* mutex) { return peek(&mutex->__data.__lock) == 2; }
inline bool isWaitedFor(const pthread_rwlock_t* lock) {
  constexpr std::uint32_t kReadersWait = 4, kFutexUsed = 2;
  return (peek(&lock->__data.__readers) & kReadersWait) != 0 ||
         ((peek(&lock->__data.__wrphase_futex) | peek(&lock->__data.__writers_futex)) & kFutexUsed) != 0;
}
inline bool isWaitedFor(const pthread_cond_t* condition) {
  return peek(&condition->__data.__wrefs) >> 3 != 0;
}

}  // namespace traceback::inject
