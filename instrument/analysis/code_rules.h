// Functions that something outside of their own code forbids to copy.
#pragma once

#include "instrument/analysis/program.h"

namespace traceback::instrument {

// Marks as skipped:
//   restartable sequences (rseq(2), linux/rseq.h): the kernel restarts a thread that it interrupts between
//   two original addresses, so the code between them has to run there. Descriptors are found by the signature
//   0x53053053 in front of the abort address that they hold, which the kernel checks too.
//   functions that are made to be patched while they run: __patchable_function_entries (GCC, Clang), and
//   xray_instr_map (XRay, compiler-rt/lib/xray)
//   V8's entries into JavaScript, where they have unwind tables (workerd's): it looks for return addresses in
//   its embedded builtins, of which they are a part
void applyCodeRules(Program& program);

}  // namespace traceback::instrument
