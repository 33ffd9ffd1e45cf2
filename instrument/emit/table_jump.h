// A jump through a table of the program's, by the table that its copy has instead (jump_tables.h).
//
//   in place of the load:
//       cmp $entries, index; jae slow                           unless the index is one of few
//       [mov scratch, slot;] lea original(%rip), scratch; cmp scratch, base; jne changed       unless plain
//       movslq table - original(base, index, 4), target;        Offsets: the add that the program has follows
//       add base, target                                        Addresses
//       mov table(, index, 8), target; or jmp *table(, index, 8)                              Absolute
//   and the jump through `target`
//
// Where the program needs what the jump's register had, or the scratch, or flags that its add left, entries
// lead to the copy by a stub:
//       [mov slot, scratch;] [lea original(%rip), target; [sub base, target; add base, target;]] jmp copy
//
// The tables are read only, and lie behind all copies, where those of the lookups are:
//       Offsets, Addresses: distances from the program's table, of four bytes
//       Absolute: addresses, of eight
#pragma once

#include <optional>
#include <span>

#include "instrument/analysis/jump_tables.h"
#include "instrument/emit/code_builder.h"

namespace traceback::instrument {

struct SlowWay {
  Label start;
  Label changed;  // the same, but that the scratch is to be restored first
  bool isUsed = false, isChanged = false;
};

// What stands for the load; all of the jump, if that has the operand. `raw`: the original load. `number`: of
// the table.
SlowWay emitTableLoad(CodeBuilder& code, const TableJump& jump, const Instruction& load,
                      std::span<const std::uint8_t> raw, std::uint32_t number);
// In front of the slow way's original instructions.
void emitSlowStart(CodeBuilder& code, const TableJump& jump, const SlowWay& way);

// What a stub brings back.
struct Restored {
  std::optional<unsigned> scratch, target;
  std::optional<unsigned> flagsOfAdd;  // of that base, to the target
};
// The jump to the copy of `original` follows.
void emitStub(CodeBuilder& code, const Restored& restored, VirtAddr original);

constexpr std::uint32_t entrySize(JumpTable::Kind kind) { return kind == JumpTable::Kind::Absolute ? 8 : 4; }

}  // namespace traceback::instrument
