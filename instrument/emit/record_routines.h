// Head probes that share their code: behind calls, and where code hardly ever runs (Block::cold).
//
//   head    b8+r imm32         mov  $record, %r     a register that is dead
//           e8 rel32           call routine
//
// and with no dead register
//
//           48 89 4c 24 f0     mov  %rcx, -16(%rsp)
//           b9 imm32           mov  $record, %ecx
//           e8 rel32           call routine         of those that give rcx back
//
// The routine, one for each r, each s and each place of the cursor (probes.h), of those that the module uses:
//
//   start:  (4c 89 5c 24 f0    mov  %r11, -16(%rsp) if s is r11; else it is dead, too)
//            64 .. 8b .. 25 .. mov  %fs:-4096, %s
//            .. 8b ..          mov  (%s), %s        or movq %xmm15, %s alone: the cursor is there
//   resume:  66 .. 83 .. 04    add  $4, %s16
//            72 ..             jc   wrap
//            .. 89 ..          mov  %r, (%s)
//   written: 64 .. 8b .. 25 .. mov  %fs:-4096, %r
//           (66 .. 0f 6e ..    movq %s, %xmm15)     or the step and the store of xmm15, by %s (probes.h)
//            .. 89 ..          mov  %s, (%r)
//   claimed:(4c 8b 5c 24 f0    mov  -16(%rsp), %r11)
//           (48 8b 4c 24 f8    mov  -8(%rsp), %rcx)
//            c3                ret
//   wrap:    .. 8d .. ..       lea  resume(%rip), %s
//            ff 25 ..          jmp  *ModuleSlots.wrap[s](%rip)
//
// What this takes of the stack is free. Behind a call, the word below the stack pointer is where the return
// address was that the call has just left by, and the two below that were the callee's; where a function
// begins that is only ever called, nothing is there yet; and elsewhere nothing is in functions that call
// others, for what is there would not outlive a call (psABI 3.2.2: it is for leaves). A function that wants
// something from there all the same can only do so by naming it, so those that name memory below the stack
// pointer have no such heads. The flags are dead; r11 is given back, below the stack pointer again, where
// signals leave it alone.
//
// Who is interrupted in a routine is in the middle of a probe: the runtime brings it to one of its ends
// before anybody looks (runtime/inject/modules/routines.h), for which the module table says where `claimed`
// and so on are.
#pragma once

#include <cstdint>

#include "instrument/emit/probes.h"
#include "instrument/emit/routines.h"

namespace traceback::instrument {

HeadProbe emitSharedHead(CodeBuilder& code, std::uint32_t record, Free free, Cursor cursor, RoutineSet& used);

// By its number; returns where it is in the code.
std::uint32_t emitRecordRoutine(unsigned number, VirtAddr moduleSlots, Routines& out);

}  // namespace traceback::instrument
