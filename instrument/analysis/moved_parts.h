// Parts of functions that compilers moved away (f.cold), for they think that these hardly ever run.
#pragma once

#include "instrument/analysis/program.h"

namespace traceback::instrument {

// Whether the function, of which is known who enters it, is such a part: only ever jumped to, and with a
// frame already where it begins, as its unwind table says.
bool isMovedPart(const Program& program, const Function& function);

}  // namespace traceback::instrument
