// What the program set for each signal, and what the kernel has instead.
//
//   program                        kernel
//   a handler                      runHandler, which runs it between two records (handlers.cpp)
//   default, for a fatal signal    meetFault (fault.cpp)
//   default otherwise, ignore      the same
#pragma once

#include <cstdint>

namespace traceback::inject {

// The kernel's own form of struct sigaction.
struct Action {
  std::uint64_t handler;  // 0 default, 1 ignore
  std::uint64_t flags;
  std::uint64_t restorer;
  std::uint64_t mask;
};

inline constexpr int kSignals = 64;

// Takes the signals over. Until then, and if it fails, the program's calls go straight to libc.
void watchSignals();
bool signalsWatched();

// What libc puts into every action, and so what the program finds in one.
std::uint64_t libcRestorer();

// rt_sigaction as the program means it. Zero or a negative error number; either pointer may be null.
long programSigaction(int signal, const Action* next, Action* previous);

// Whether its default action ends the process because something is wrong with that, and is to be snapped.
bool isFatal(int signal);

// The action by which a signal that has just arrived is to be handled. With SA_RESETHAND it is the
// default from then on.
Action actionAtArrival(int signal);

// The program is about to filter its system calls: has the kernel put the default action back by itself
// when a fatal signal arrives.
void prepareSandbox();

// Puts the kernel's default action in place, whatever the program or we have there.
void setKernelDefault(int signal);

// Before abort(), which ends the process though its signal is ignored: has the kernel call meetFault for
// that.
void meetIgnoredAbort();

// In a forked child: whoever held the lock is not here.
void forgetActionLock();

}  // namespace traceback::inject
