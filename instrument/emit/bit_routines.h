// Light probes that share their code, where that hardly ever runs (Block::cold):
//
//   light  e8 rel32           call routine
//
// The routine, one for each bit and each place of the cursor (probes.h), of those that the module uses:
//
//   start: 48 89 44 24 f8     mov  %rax, -8(%rsp)
//          48 89 4c 24 f0     mov  %rcx, -16(%rsp)
//          64 48 8b 04 25 ..  mov  %fs:-4096, %rax
//          48 8b 00           mov  (%rax), %rax       or movq %xmm15, %rax alone: the cursor is there
//          0f b6 48 ..        movzbl byte(%rax), %ecx
//          8d 49 ..           lea  mask(%rcx), %ecx   the bit is known to be clear
//          88 48 ..           movb %cl, byte(%rax)
//          48 8b 4c 24 f0     mov  -16(%rsp), %rcx
//          48 8b 44 24 f8     mov  -8(%rsp), %rax
//          c3                 ret
//
// It needs no dead register, and no flags. What it takes of the stack is free for the same reasons as where
// heads call routines (record_routines.h), and who is interrupted in it is brought to its end likewise.
#pragma once

#include "instrument/emit/routines.h"

namespace traceback::instrument {

void emitSharedBit(CodeBuilder& code, unsigned bit, bool kept, RoutineSet& used);

// By its number among those of bits; returns where it is in the code.
std::uint32_t emitBitRoutine(unsigned number, Routines& out);

}  // namespace traceback::instrument
