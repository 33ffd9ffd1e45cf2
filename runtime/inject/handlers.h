// Running the program's signal handlers between two records.
#pragma once

#include <signal.h>

namespace traceback::inject {

// What the kernel calls for every signal that the program handles.
void runHandler(int signal, siginfo_t* info, void* context);

}  // namespace traceback::inject
