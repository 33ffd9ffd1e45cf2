// The probes: the instructions that write a record's head, and set a bit of its path.
//
// With two dead registers r and s, and the flags dead:
//
//   head    64 48 8b .. 25 f000ffff   mov  %fs:-4096, s      the segment's header (ring.h)
//           48 8b ..                  mov  (s), r            the word last written
//   resume: 66 83 .. 04               add  $4, r16           the word behind it: not in another window?
//           72 ..                     jc   wrap
//           c7 .. imm32               movl $record, (r)
//           48 89 ..                  mov  r, (s)            claim the word
//   wrap:   48 8d .. resume           lea  resume(%rip), r   out of line
//           ff 25 ..                  jmp  *ModuleSlots.wrap[r](%rip)
//
//   light   mov %fs:-4096, r; mov (r), r; orb $bit, byte(r)
//
// Where the function keeps the cursor in xmm15 (liveness.h), it is stepped there, off memory's latency, and
// stored in the header all the same, so that whoever looks finds it:
//
//   head    movq %xmm15, r; add $4, r16; jc wrap; movl $record, (r)
//           mov %fs:-4096, r; paddq 48(r), %xmm15; movlps %xmm15, (r)
//
//           Behind calls of what may have lost it, and at landing pads, it is loaded:
//           mov %fs:-4096, s; mov (s), r; add $4, r16; jc wrap; movl $record, (r)
//           movq r, %xmm15; mov r, (s)
//           With one dead register, the form on top has in place of its first instruction:
//           mov %fs:-4096, r; mov (r), r; movq r, %xmm15
//
//           Behind calls of what brings it along, the form on top, whose first instruction can be written
//           over by a call of a load routine there (load_routines.h), and may have a NOP in front.
//
//   entry   For copies that do not keep it, and whoever comes by the gate, it is compared, if two registers
//           are dead, for a value that is loaded has to wait for the store of the one before:
//           movq %xmm15, r; mov %fs:-4096, s; cmp r, (s); jne load
//   load    movq (s), %xmm15; mov (s), r; jmp back         out of line
//   wrap    by ModuleSlots.wrapKept, which sets xmm15 too
//   light   movq %xmm15, r; orb $bit, byte(r)
//
// The record is written before it is claimed, by the store of the cursor: whoever is interrupted in between
// has not come to the head yet, and the word is written again, by whoever comes next. A signal's handler has
// another segment, and so never finds a word of its own there. All light probes change single bytes: a load
// of the whole word behind the store of one would wait until that is in the cache.
//
// Sub-buffers end where the low sixteen bits of addresses overflow (ring.h). So a head sees by the cursor
// whether there is a word for it, and waits for nothing of the ring, whose next line is in no cache.
//
// What is stored is the very cursor that was looked at: so whoever else steps the same header's meanwhile,
// none ever gets past the end of its window.
//
// A wrap that comes back with another segment puts the header's address of that into s (wrap.cpp).
//
// With the flags live, forms that touch none: lea to step (in a second register) and to set the bit (which is
// known to be clear), lea, movzwl and jrcxz to look for the window's end. A register that is not dead is kept
// in a spill slot, never on the stack.
#pragma once

#include <optional>
#include <vector>

#include "instrument/decode/instruction.h"
#include "instrument/emit/code_builder.h"

namespace traceback::instrument {

// What a probe may use without keeping it.
struct Free {
  RegisterSet registers = 0;
  bool flags = false;
};

// Where a probe finds the cursor.
enum class Cursor : std::uint8_t {
  InMemory,
  Kept,  // in xmm15
  Loaded,  // in memory, and leaves it in xmm15
  Brought,  // in xmm15, as a callee's copy left it
};

// The rare end of a comparison, to be emitted out of line.
struct CursorLoad {
  Label load, back;
  unsigned cursor = 0, segment = 0;  // registers
};

struct HeadProbe {
  Label record;  // the instruction that holds the record word, in its last four bytes
  Label claimed;  // from here on the record is there
  std::optional<Label> taken;  // of one that was brought the cursor: the instruction that takes it
  // Out of line, to be emitted later by emitWrap(); none if the probe has it inline.
  Label wrap, resume;
  unsigned scratch = 0;
  bool wrapOutOfLine = false;
  bool kept = false;
};

// Cursor::Brought only with the flags dead.
HeadProbe emitHeadProbe(CodeBuilder& code, std::uint32_t record, Free free, Cursor cursor,
                        VirtAddr moduleSlots);
void emitWrap(CodeBuilder& code, const HeadProbe& probe, VirtAddr moduleSlots);
void emitLightProbe(CodeBuilder& code, unsigned bit, Free free, bool kept);
// Brings the cursor into xmm15. No flags.
void emitCursorLoad(CodeBuilder& code, Free free);
// The same where it mostly is there already, if two registers and the flags are dead.
std::optional<CursorLoad> emitCursorComparison(CodeBuilder& code, Free free);
void emitLoad(CodeBuilder& code, const CursorLoad& load);

// Moves between a register and a spill slot. No flags.
void emitSpill(CodeBuilder& code, unsigned reg, unsigned slot);
void emitRestore(CodeBuilder& code, unsigned reg, unsigned slot);

}  // namespace traceback::instrument
