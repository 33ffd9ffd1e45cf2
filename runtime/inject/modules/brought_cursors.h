// Record routines and heads that take the cursor from xmm15 as a callee's copy left it
// (kRoutineBroughtCursor, BroughtHead).
#pragma once

#include <cstdint>

#include "runtime/format/module.h"

namespace traceback::inject {

// Makes those of the module load it, for good. Other threads may be in them, but not in here. Where memory
// may not be writable and executable at once, they stay as they are.
void loadBroughtCursors(const format::ModuleHeader& header, std::uint64_t bias);

}  // namespace traceback::inject
