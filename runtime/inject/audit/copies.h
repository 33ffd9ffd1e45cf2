// Looking up the instrumented copy of a file, and having it made.
#pragma once

#include "runtime/inject/audit/settings.h"

namespace traceback::inject::audit {

// The copy of `file` in the cache; false if the file is to be used as it is. Waits while `traceback` makes
// a copy that is missing. `program`: the file is to be executed by its absolute path, not loaded.
bool findCopy(const char* file, bool program, LongPath& copy);

// Notes how the process's system calls are filtered now: once the program adds a filter of its own, only
// calls are made that the dynamic linker makes as well.
void noteFilters();
bool mayCallAnything();

}  // namespace traceback::inject::audit
