// Memory in large pages for a process that needs gigabytes of it for a short time.
#pragma once

namespace traceback::app {

// Has glibc's allocator ask for large pages in the program that this process executes next: it takes that
// from the environment, and only as a process starts (GLIBC_TUNABLES; from 2.35 on). False, and nothing was
// done, if the environment says something of it already.
bool askForLargePages();

// If the command that `arguments` (of main, ended by a null pointer) name instruments files in its own
// process, executes this program once more, with large pages. Comes back, to go on, if it is another command,
// if the environment says something of it already, or if it cannot be done. Call before anything that an
// execution would lose.
void startInLargePages(char** arguments);

}  // namespace traceback::app
