// Fatal signals: recorded, collected, and then left to take their course.
#pragma once

#include <signal.h>

namespace traceback::inject {

// What the kernel calls for a fatal signal that the program does not handle.
void meetFault(int signal, siginfo_t* info, void* context);

// In a forked child: the fault that may be under way is the parent's.
void forgetFault();

}  // namespace traceback::inject
