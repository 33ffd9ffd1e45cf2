// The test with which a copy begins that the original's entry jumps to: whether the module is bound.
//
//   cmpq $0, bound(%rip); je displaced
//
// or, with the flags live,
//
//   mov %rcx, -8(%rsp); mov bound(%rip), %rcx; jrcxz unbound; mov -8(%rsp), %rcx; jmp inside
//   unbound: mov -8(%rsp), %rcx; jmp displaced
//   inside:
#pragma once

#include "instrument/emit/code_builder.h"

namespace traceback::instrument {

// `bound`: of the ModuleSlots. `displaced`: the way back to the original code.
void emitGateTest(CodeBuilder& code, VirtAddr bound, bool flagsAreDead, Label displaced);

}  // namespace traceback::instrument
