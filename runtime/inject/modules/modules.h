// Instrumented modules: finding them among the loaded objects, binding them, and their addresses.
#pragma once

#include <cstdint>

#include "runtime/format/module.h"

namespace traceback::inject {

// Looks for modules that were loaded since the last look and binds them, and for those that went away.
// Calls libc (dl_iterate_phdr), so only from places where the program called the dynamic linker itself.
// Waits a short while for another thread that is at it; that one sees to what came too late for it.
void bindNewModules();

// In a forked child: whoever held the locks is not here.
void forgetModuleLock();

// Whether some module is bound.
bool anyModuleBound();

// From now on no probe takes the cursor from xmm15 as a callee left it (kRoutineBroughtCursor, BroughtHead):
// a thread is about to go on in original code in the middle of one. For handlers, too.
void distrustCallees();

// The original address for one in a copy; the address itself for any other.
std::uint64_t originalAddress(std::uint64_t address);
// The same for where a call returns to: what follows the call in the copy may stand for anything.
std::uint64_t originalReturnAddress(std::uint64_t address);
bool isInCopy(std::uint64_t address);

// The routine that has an address: one of the three, or none.
struct RoutineAt {
  const format::RecordRoutine* record = nullptr;
  const format::BitRoutine* bit = nullptr;
  const format::LoadRoutine* load = nullptr;
  std::uint64_t start = 0;  // in the process
};
RoutineAt routineAt(std::uint64_t address);

}  // namespace traceback::inject
