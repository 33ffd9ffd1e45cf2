// Divides all functions of a program into DAGs, and gives these their codes.
//
// Codes are what limits how long paths may be: each bit more doubles those of a DAG. So paths are long where
// a profile says that it counts, in the functions that run most: fewer records have to be begun there.
#pragma once

#include "instrument/analysis/program.h"
#include "instrument/codes.h"
#include "instrument/flow/call_order.h"

namespace traceback::instrument {

// Of paths: most bits, wherever nothing is known to run often, and where it is.
inline constexpr unsigned kShortPathBits = 10, kLongPathBits = 14;

// Tiles callees before callers. Functions for which no codes are left are skipped (CodesExhausted).
Codes tileProgram(Program& program, const Waves& waves, unsigned threads);

}  // namespace traceback::instrument
