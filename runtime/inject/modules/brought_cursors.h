// Record routines and heads that take the cursor from xmm15 as a callee's copy left it
// (kRoutineBroughtCursor, BroughtHead).
#pragma once

#include <cstdint>

#include "runtime/format/module.h"

namespace traceback::inject {

// From now on none of them does, in any module, for good: a thread is about to go on in original code in the
// middle of a callee. Other threads may be in them. Where memory may not be writable and executable at once,
// they stay as they are. For handlers, too.
void distrustCallees();
// Of a module that boundModules() has by now, and whose copies nobody runs yet: the same, if it is so of the
// others.
void distrustIfOthersAre(const format::ModuleHeader& header, std::uint64_t bias);

// In a forked child: whoever held the lock is not here.
void forgetDistrustLock();

}  // namespace traceback::inject
