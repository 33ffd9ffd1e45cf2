// Calls of libc that wait, with clock readings around them (waiting.h). What each does to the caller, errno,
// cancellation and interruption by signals included, is what libc's own does: it is called once, as it was.
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/inject/libc/libc.h"
#include "runtime/inject/libc/lock_state.h"
#include "runtime/inject/libc/masked_wait.h"
#include "runtime/inject/libc/waiting.h"
#include "runtime/inject/libc/waits.h"
#include "runtime/inject/signals/held_faults.h"

using namespace traceback::inject;
using traceback::format::WaitKind;

// Attributes of the declarations are not of the functions' types.
#pragma GCC diagnostic ignored "-Wignored-attributes"

#define EXPORTED extern "C" [[gnu::visibility("default")]]

// Not in every glibc's headers.
extern "C" {
int __poll_chk(pollfd*, nfds_t, int, std::size_t);
int __ppoll_chk(pollfd*, nfds_t, const timespec*, const sigset_t*, std::size_t);
int epoll_pwait2(int, epoll_event*, int, const timespec*, const sigset_t*);
int pthread_clockjoin_np(pthread_t, void**, clockid_t, const timespec*);
}

namespace {

template <typename Function>
struct Real;
template <typename Result, typename... Arguments>
struct Real<Result(Arguments...)> {
  Result (*function)(Arguments...);

  // Libc's own; the first call may come before anything was looked up.
  Result operator()(Arguments... arguments) const {
    if (__builtin_expect(function == nullptr, 0)) {
      findLibc();
      if (function == nullptr) {
        setErrno(ENOSYS);
        return static_cast<Result>(-1);
      }
    }
    return function(arguments...);
  }
};
template <typename Result, typename... Arguments>
struct Real<Result(Arguments...) noexcept> : Real<Result(Arguments...)> {};

struct Waits {
  Real<decltype(::poll)> poll;
  Real<decltype(__poll_chk)> pollChecked;
  Real<decltype(::ppoll)> ppoll;
  Real<decltype(__ppoll_chk)> ppollChecked;
  Real<decltype(::select)> select;
  Real<decltype(::pselect)> pselect;
  Real<decltype(::epoll_wait)> epollWait;
  Real<decltype(::epoll_pwait)> epollPwait;
  Real<decltype(::epoll_pwait2)> epollPwait2;
  Real<decltype(::accept)> accept;
  Real<decltype(::accept4)> accept4;
  Real<decltype(::nanosleep)> nanosleep;
  Real<decltype(::clock_nanosleep)> clockNanosleep;
  Real<decltype(::usleep)> usleep;
  Real<decltype(::sleep)> sleep;
  Real<decltype(::pause)> pause;
  Real<decltype(::sigsuspend)> sigsuspend;
  Real<decltype(::sigwait)> sigwait;
  Real<decltype(::sigwaitinfo)> sigwaitinfo;
  Real<decltype(::sigtimedwait)> sigtimedwait;
  Real<decltype(::wait)> wait;
  Real<decltype(::waitpid)> waitpid;
  Real<pid_t(int*, int, rusage*)> wait3;
  Real<pid_t(pid_t, int*, int, rusage*)> wait4;
  Real<decltype(::waitid)> waitid;
  Real<decltype(::pthread_join)> join;
  Real<decltype(::pthread_timedjoin_np)> timedJoin;
  Real<decltype(::pthread_clockjoin_np)> clockJoin;
  Real<decltype(::pthread_cond_wait)> conditionWait;
  Real<decltype(::pthread_cond_timedwait)> conditionTimedWait;
  Real<decltype(::pthread_cond_clockwait)> conditionClockWait;
  Real<decltype(::pthread_barrier_wait)> barrierWait;
  Real<decltype(::pthread_mutex_lock)> mutexLock;
  Real<decltype(::pthread_mutex_timedlock)> mutexTimedLock;
  Real<decltype(::pthread_mutex_clocklock)> mutexClockLock;
  Real<decltype(::pthread_rwlock_rdlock)> readLock;
  Real<decltype(::pthread_rwlock_wrlock)> writeLock;
  Real<decltype(::pthread_rwlock_timedrdlock)> timedReadLock;
  Real<decltype(::pthread_rwlock_timedwrlock)> timedWriteLock;
  Real<decltype(::pthread_mutex_unlock)> mutexUnlock;
  Real<decltype(::pthread_rwlock_unlock)> rwlockUnlock;
  Real<decltype(::pthread_cond_signal)> conditionSignal;
  Real<decltype(::pthread_cond_broadcast)> conditionBroadcast;
  Real<decltype(::sem_post)> semPost;
  Real<decltype(::sem_wait)> semWait;
  Real<decltype(::sem_timedwait)> semTimedWait;
  Real<decltype(::sem_clockwait)> semClockWait;
};
constinit Waits real{};

template <typename... Arguments>
auto waitIn(WaitKind kind, const void* object, const auto& function, Arguments... arguments) {
  const Waiting waiting(kind, object);
  return function(arguments...);
}

template <typename... Arguments>
auto waitMasked(WaitKind kind, const sigset_t* mask, bool waits, const auto& function,
                Arguments... arguments) {
  const MaskedWait masked(mask);
  return waits ? waitIn(kind, nullptr, function, arguments...) : function(arguments...);
}

template <typename... Arguments>
auto takeLock(bool taken, const auto& function, Arguments... arguments) {
  if (__builtin_expect(!taken, 1)) return function(arguments...);
  const Waiting waiting;
  return function(arguments...);
}

// What lets a waiting thread go on: a reading from before that, if somebody waits.
template <typename... Arguments>
auto giveTo(bool waited, const auto& function, Arguments... arguments) {
  if (__builtin_expect(waited, 0)) noteReading();
  return function(arguments...);
}

bool mayWait(const timespec* time) { return time == nullptr || time->tv_sec != 0 || time->tv_nsec != 0; }
bool mayWait(const timeval* time) { return time == nullptr || time->tv_sec != 0 || time->tv_usec != 0; }

}  // namespace

namespace traceback::inject {

void findWaits(void* (*lookUp)(const char*, const char*, const char*)) {
  const auto into = [lookUp]<typename Function>(Real<Function>& to, const char* name, const char* version,
                                                const char* older = nullptr) {
    to.function = reinterpret_cast<decltype(to.function)>(lookUp(name, version, older));
  };
  into(real.poll, "poll", "GLIBC_2.2.5");
  into(real.pollChecked, "__poll_chk", "GLIBC_2.16");
  into(real.ppoll, "ppoll", "GLIBC_2.4");
  into(real.ppollChecked, "__ppoll_chk", "GLIBC_2.16");
  into(real.select, "select", "GLIBC_2.2.5");
  into(real.pselect, "pselect", "GLIBC_2.2.5");
  into(real.epollWait, "epoll_wait", "GLIBC_2.3.2");
  into(real.epollPwait, "epoll_pwait", "GLIBC_2.6");
  into(real.epollPwait2, "epoll_pwait2", "GLIBC_2.35");
  into(real.accept, "accept", "GLIBC_2.2.5");
  into(real.accept4, "accept4", "GLIBC_2.10");
  into(real.nanosleep, "nanosleep", "GLIBC_2.2.5");
  into(real.clockNanosleep, "clock_nanosleep", "GLIBC_2.17");
  into(real.usleep, "usleep", "GLIBC_2.2.5");
  into(real.sleep, "sleep", "GLIBC_2.2.5");
  into(real.pause, "pause", "GLIBC_2.2.5");
  into(real.sigsuspend, "sigsuspend", "GLIBC_2.2.5");
  into(real.sigwait, "sigwait", "GLIBC_2.2.5");
  into(real.sigwaitinfo, "sigwaitinfo", "GLIBC_2.2.5");
  into(real.sigtimedwait, "sigtimedwait", "GLIBC_2.2.5");
  into(real.wait, "wait", "GLIBC_2.2.5");
  into(real.waitpid, "waitpid", "GLIBC_2.2.5");
  into(real.wait3, "wait3", "GLIBC_2.2.5");
  into(real.wait4, "wait4", "GLIBC_2.2.5");
  into(real.waitid, "waitid", "GLIBC_2.2.5");
  into(real.join, "pthread_join", "GLIBC_2.34", "GLIBC_2.2.5");
  into(real.timedJoin, "pthread_timedjoin_np", "GLIBC_2.34", "GLIBC_2.3.3");
  into(real.clockJoin, "pthread_clockjoin_np", "GLIBC_2.34", "GLIBC_2.31");
  into(real.conditionWait, "pthread_cond_wait", "GLIBC_2.3.2");
  into(real.conditionTimedWait, "pthread_cond_timedwait", "GLIBC_2.3.2");
  into(real.conditionClockWait, "pthread_cond_clockwait", "GLIBC_2.34", "GLIBC_2.30");
  into(real.barrierWait, "pthread_barrier_wait", "GLIBC_2.34", "GLIBC_2.2.5");
  into(real.mutexLock, "pthread_mutex_lock", "GLIBC_2.2.5");
  into(real.mutexTimedLock, "pthread_mutex_timedlock", "GLIBC_2.34", "GLIBC_2.2.5");
  into(real.mutexClockLock, "pthread_mutex_clocklock", "GLIBC_2.34", "GLIBC_2.30");
  into(real.readLock, "pthread_rwlock_rdlock", "GLIBC_2.34", "GLIBC_2.2.5");
  into(real.writeLock, "pthread_rwlock_wrlock", "GLIBC_2.34", "GLIBC_2.2.5");
  into(real.timedReadLock, "pthread_rwlock_timedrdlock", "GLIBC_2.34", "GLIBC_2.2.5");
  into(real.timedWriteLock, "pthread_rwlock_timedwrlock", "GLIBC_2.34", "GLIBC_2.2.5");
  into(real.mutexUnlock, "pthread_mutex_unlock", "GLIBC_2.2.5");
  into(real.rwlockUnlock, "pthread_rwlock_unlock", "GLIBC_2.34", "GLIBC_2.2.5");
  into(real.conditionSignal, "pthread_cond_signal", "GLIBC_2.3.2");
  into(real.conditionBroadcast, "pthread_cond_broadcast", "GLIBC_2.3.2");
  into(real.semPost, "sem_post", "GLIBC_2.34", "GLIBC_2.2.5");
  into(real.semWait, "sem_wait", "GLIBC_2.34", "GLIBC_2.2.5");
  into(real.semTimedWait, "sem_timedwait", "GLIBC_2.34", "GLIBC_2.2.5");
  into(real.semClockWait, "sem_clockwait", "GLIBC_2.34", "GLIBC_2.30");
}

}  // namespace traceback::inject

// Events of descriptors. A call that may not wait is let through.

EXPORTED int poll(pollfd* files, nfds_t count, int timeout) {
  if (timeout == 0) return real.poll(files, count, timeout);
  return waitIn(WaitKind::Poll, nullptr, real.poll, files, count, timeout);
}
EXPORTED int __poll_chk(pollfd* files, nfds_t count, int timeout, std::size_t size) {
  if (timeout == 0) return real.pollChecked(files, count, timeout, size);
  return waitIn(WaitKind::Poll, nullptr, real.pollChecked, files, count, timeout, size);
}
EXPORTED int ppoll(pollfd* files, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  return waitMasked(WaitKind::Poll, mask, mayWait(timeout), real.ppoll, files, count, timeout, mask);
}
EXPORTED int __ppoll_chk(pollfd* files, nfds_t count, const timespec* timeout, const sigset_t* mask,
                         std::size_t size) {
  return waitMasked(WaitKind::Poll, mask, mayWait(timeout), real.ppollChecked, files, count, timeout, mask,
                    size);
}
EXPORTED int select(int count, fd_set* read, fd_set* write, fd_set* except, timeval* timeout) {
  if (!mayWait(timeout)) return real.select(count, read, write, except, timeout);
  return waitIn(WaitKind::Poll, nullptr, real.select, count, read, write, except, timeout);
}
EXPORTED int pselect(int count, fd_set* read, fd_set* write, fd_set* except, const timespec* timeout,
                     const sigset_t* mask) {
  return waitMasked(WaitKind::Poll, mask, mayWait(timeout), real.pselect, count, read, write, except, timeout,
                    mask);
}
EXPORTED int epoll_wait(int file, epoll_event* events, int most, int timeout) {
  if (timeout == 0) return real.epollWait(file, events, most, timeout);
  return waitIn(WaitKind::Poll, nullptr, real.epollWait, file, events, most, timeout);
}
EXPORTED int epoll_pwait(int file, epoll_event* events, int most, int timeout, const sigset_t* mask) {
  return waitMasked(WaitKind::Poll, mask, timeout != 0, real.epollPwait, file, events, most, timeout, mask);
}
EXPORTED int epoll_pwait2(int file, epoll_event* events, int most, const timespec* timeout,
                          const sigset_t* mask) {
  return waitMasked(WaitKind::Poll, mask, mayWait(timeout), real.epollPwait2, file, events, most, timeout,
                    mask);
}
EXPORTED int accept(int file, sockaddr* address, socklen_t* size) {
  return waitIn(WaitKind::Poll, nullptr, real.accept, file, address, size);
}
EXPORTED int accept4(int file, sockaddr* address, socklen_t* size, int flags) {
  return waitIn(WaitKind::Poll, nullptr, real.accept4, file, address, size, flags);
}

// Time, and signals.

EXPORTED int nanosleep(const timespec* time, timespec* left) {
  return waitIn(WaitKind::Sleep, nullptr, real.nanosleep, time, left);
}
EXPORTED int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  return waitIn(WaitKind::Sleep, nullptr, real.clockNanosleep, clock, flags, time, left);
}
EXPORTED int usleep(useconds_t time) { return waitIn(WaitKind::Sleep, nullptr, real.usleep, time); }
EXPORTED unsigned sleep(unsigned time) { return waitIn(WaitKind::Sleep, nullptr, real.sleep, time); }
EXPORTED int pause() { return waitIn(WaitKind::Sleep, nullptr, real.pause); }
EXPORTED int sigsuspend(const sigset_t* mask) {
  return waitMasked(WaitKind::Sleep, mask, true, real.sigsuspend, mask);
}
EXPORTED int sigwait(const sigset_t* signals, int* number) {
  blockHeld(signals);
  return waitIn(WaitKind::Sleep, nullptr, real.sigwait, signals, number);
}
EXPORTED int sigwaitinfo(const sigset_t* signals, siginfo_t* info) {
  blockHeld(signals);
  return waitIn(WaitKind::Sleep, nullptr, real.sigwaitinfo, signals, info);
}
EXPORTED int sigtimedwait(const sigset_t* signals, siginfo_t* info, const timespec* time) {
  blockHeld(signals);
  if (!mayWait(time)) return real.sigtimedwait(signals, info, time);
  return waitIn(WaitKind::Sleep, nullptr, real.sigtimedwait, signals, info, time);
}

// Processes.

EXPORTED pid_t wait(int* status) { return waitIn(WaitKind::Child, nullptr, real.wait, status); }
EXPORTED pid_t waitpid(pid_t child, int* status, int options) {
  if ((options & WNOHANG) != 0) return real.waitpid(child, status, options);
  return waitIn(WaitKind::Child, nullptr, real.waitpid, child, status, options);
}
EXPORTED pid_t wait3(int* status, int options, rusage* usage) noexcept {
  if ((options & WNOHANG) != 0) return real.wait3(status, options, usage);
  return waitIn(WaitKind::Child, nullptr, real.wait3, status, options, usage);
}
EXPORTED pid_t wait4(pid_t child, int* status, int options, rusage* usage) noexcept {
  if ((options & WNOHANG) != 0) return real.wait4(child, status, options, usage);
  return waitIn(WaitKind::Child, nullptr, real.wait4, child, status, options, usage);
}
EXPORTED int waitid(idtype_t type, id_t id, siginfo_t* info, int options) {
  if ((options & WNOHANG) != 0) return real.waitid(type, id, info, options);
  return waitIn(WaitKind::Child, nullptr, real.waitid, type, id, info, options);
}

// Threads.

EXPORTED int pthread_join(pthread_t thread, void** result) {
  return waitIn(WaitKind::ThreadJoin, nullptr, real.join, thread, result);
}
EXPORTED int pthread_timedjoin_np(pthread_t thread, void** result, const timespec* time) {
  return waitIn(WaitKind::ThreadJoin, nullptr, real.timedJoin, thread, result, time);
}
EXPORTED int pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock, const timespec* time) {
  return waitIn(WaitKind::ThreadJoin, nullptr, real.clockJoin, thread, result, clock, time);
}
EXPORTED int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return waitIn(WaitKind::Condition, condition, real.conditionWait, condition, mutex);
}
EXPORTED int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* time) {
  return waitIn(WaitKind::Condition, condition, real.conditionTimedWait, condition, mutex, time);
}
EXPORTED int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                    const timespec* time) {
  return waitIn(WaitKind::Condition, condition, real.conditionClockWait, condition, mutex, clock, time);
}
EXPORTED int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  return waitIn(WaitKind::Barrier, barrier, real.barrierWait, barrier);
}

// Locks and semaphores: only a call that finds them taken waits, and only one that finds them waited for lets
// somebody go on.

EXPORTED int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  return takeLock(isTaken(mutex), real.mutexLock, mutex);
}
EXPORTED int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* time) noexcept {
  return takeLock(isTaken(mutex), real.mutexTimedLock, mutex, time);
}
EXPORTED int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* time) noexcept {
  return takeLock(isTaken(mutex), real.mutexClockLock, mutex, clock, time);
}
EXPORTED int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  return takeLock(isTakenByWriter(lock), real.readLock, lock);
}
EXPORTED int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  return takeLock(isTakenByAnybody(lock), real.writeLock, lock);
}
EXPORTED int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* time) noexcept {
  return takeLock(isTakenByWriter(lock), real.timedReadLock, lock, time);
}
EXPORTED int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* time) noexcept {
  return takeLock(isTakenByAnybody(lock), real.timedWriteLock, lock, time);
}
EXPORTED int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  return giveTo(isWaitedFor(mutex), real.mutexUnlock, mutex);
}
EXPORTED int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  return giveTo(isWaitedFor(lock), real.rwlockUnlock, lock);
}
EXPORTED int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  return giveTo(isWaitedFor(condition), real.conditionSignal, condition);
}
EXPORTED int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  return giveTo(isWaitedFor(condition), real.conditionBroadcast, condition);
}
EXPORTED int sem_post(sem_t* semaphore) noexcept {
  return giveTo(isWaitedFor(semaphore), real.semPost, semaphore);
}
EXPORTED int sem_wait(sem_t* semaphore) { return takeLock(isTaken(semaphore), real.semWait, semaphore); }
EXPORTED int sem_timedwait(sem_t* semaphore, const timespec* time) {
  return takeLock(isTaken(semaphore), real.semTimedWait, semaphore, time);
}
EXPORTED int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* time) {
  return takeLock(isTaken(semaphore), real.semClockWait, semaphore, clock, time);
}
