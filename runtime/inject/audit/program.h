// The program that this process was started with.
#pragma once

namespace traceback::inject::audit {

// If it is an original that is to be traced: executes its copy in its place, and does not come back. If it
// is such a copy: restores what the kernel named for it.
void considerProgram();

// Whether the program is a copy in the cache; then the path of its original.
const char* originalProgram();

}  // namespace traceback::inject::audit
