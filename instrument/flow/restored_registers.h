// Registers that a function keeps for callers that are not seen, though calling conventions let it change
// them, as some run-time systems' do (OCaml's caml_call_gc).
#pragma once

#include "instrument/flow/live_state.h"

namespace traceback::instrument {

// Those that it loads from memory and returns with, though nothing up to there reads them: compilers load
// nothing for nobody, but to move the stack pointer. All, if it had put one of these on the stack as it
// began: those that it does not change it would keep too without saying so.
RegisterSet restoredRegisters(const Function& f, const Known& known);

}  // namespace traceback::instrument
