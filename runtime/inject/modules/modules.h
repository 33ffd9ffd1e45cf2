// Instrumented modules: finding them among the loaded objects, and binding them.
#pragma once

namespace traceback::inject {

// Looks for modules that were loaded since the last look and binds them, and for those that went away.
// Calls libc (dl_iterate_phdr), so only from places where the program called the dynamic linker itself.
// Waits a short while for another thread that is at it; that one sees to what came too late for it.
void bindNewModules();

// In a forked child: whoever held the locks is not here.
void forgetModuleLocks();

}  // namespace traceback::inject
