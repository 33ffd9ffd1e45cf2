// What heads that were brought the cursor (Cursor::Brought) call in place of the instruction that takes it
// from xmm15, once callees are not to be relied upon:
//
//   64 48 8b .. 25 f000ffff   mov  %fs:-4096, r      the segment's header
//   48 8b ..                  mov  (r), r
//   66 4c 0f 6e ..            movq r, %xmm15
//   c3                        ret
//
// Behind a call, so the word below the stack pointer, which this takes, is nobody's (record_routines.h). Who
// is interrupted in it is brought to its end, as with all routines.
#pragma once

#include <cstdint>

#include "instrument/emit/routines.h"

namespace traceback::instrument {

constexpr unsigned loadRoutine(unsigned reg) { return kFirstLoadRoutine + reg; }

// Returns where it is in the code.
std::uint32_t emitLoadRoutine(unsigned reg, Routines& out);

}  // namespace traceback::instrument
