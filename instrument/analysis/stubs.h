// Stubs of the procedure linkage table (psABI, 5.2): `[endbr64] jmp *slot(%rip)`, in a table or alone.
#pragma once

#include <optional>

#include "instrument/analysis/program.h"

namespace traceback::instrument {

// Where the stub at `at` takes the address from that it jumps to; nothing if there is no such stub, or if it
// has a copy. To call or to jump through the slot is to call or to jump to the stub, whoever it is bound to
// by then, or if it is not bound yet.
std::optional<VirtAddr> slotOfStub(const Program& program, VirtAddr at);

}  // namespace traceback::instrument
