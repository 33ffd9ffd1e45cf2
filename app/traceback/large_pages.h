// Memory in large pages for a command that needs gigabytes of it for a short time.
#pragma once

namespace traceback::app {

// If the command that `arguments` (of main, ended by a null pointer) name instruments files, executes this
// program once more, with what has glibc's allocator ask for large pages: it takes that from the environment,
// and only as a process starts (GLIBC_TUNABLES; from 2.35 on). Comes back, to go on, if it is another
// command, if that was done, if the user said something of it, or if it cannot be done. Call before anything
// that an execution would lose.
void startInLargePages(char** arguments);

}  // namespace traceback::app
