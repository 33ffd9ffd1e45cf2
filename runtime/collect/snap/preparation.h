// Programs that `traceback run` started and that do not run yet.
#pragma once

#include <sys/types.h>

namespace traceback::collect {

// Whether its files are being instrumented: it is this very program still, or waits for one that instruments
// a library for it.
bool isBeingPrepared(pid_t pid);

}  // namespace traceback::collect
