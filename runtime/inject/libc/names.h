// What the program is called: where it runs as a copy from the cache, the names that libc tells it are the
// original's.
#pragma once

#include <cstddef>

namespace traceback::inject {

// At the start, once the environment is read.
void learnNames();

// The original of the program if that is a copy, else null.
const char* originalProgram();

}  // namespace traceback::inject
