// Running the program's signal handlers between two records.
#pragma once

#include <signal.h>

#include <cstdint>

namespace traceback::inject {

// What the kernel calls for every signal that the program handles.
void runHandler(int signal, siginfo_t* info, void* context);

// Whether it is the address of an instruction of the runtime.
bool isRuntimeCode(std::uint64_t address);
// Whether this is where the program's handlers return to: for unwinders what libc's restorer is without us.
bool isHandlerReturn(std::uint64_t address);

}  // namespace traceback::inject
