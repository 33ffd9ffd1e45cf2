// The program that this process was started with.
#pragma once

#include <link.h>

namespace traceback::inject::audit {

// If it is an original that is to be traced: executes its copy in its place, and does not come back. If it
// is such a copy: restores what the kernel named for it.
void considerProgram();

// A library that the program is started with is there, before any code of either has run. If the linker is
// to refuse its thread-local storage, for we are here: executes the program as if nothing of ours had been,
// and does not come back.
void considerLibrary(const link_map& library);

// Whether the program is a copy in the cache; then the path of its original.
const char* originalProgram();

}  // namespace traceback::inject::audit
