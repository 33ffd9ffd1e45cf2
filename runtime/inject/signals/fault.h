// Fatal signals: recorded, collected, and then left to take their course.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <cstdint>

namespace traceback::inject {

// What the kernel calls for a fatal signal that the program does not handle.
void meetFault(int signal, siginfo_t* info, void* context);

// Before the calling thread ends the process: if it does so within the program's handler of a fault, that is
// collected as a fatal one is. True if it was.
bool collectHandledFault();

// Before the calling thread ends the process: if another one's fault is being recorded, that is what ends it.
// Comes back if there is none, or it did not.
void letFaultEndProcess();

// In a forked child: the fault that may be under way is the parent's.
void forgetFault();

}  // namespace traceback::inject
