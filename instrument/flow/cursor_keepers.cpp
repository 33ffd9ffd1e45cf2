#include "instrument/flow/cursor_keepers.h"

#include <algorithm>

namespace traceback::instrument {

namespace {

using format::BlockEnd;
using format::SkipReason;

// Whether a copy's jump to the address, out of its function, leads to code that comes back with the cursor.
bool leadsToBringer(const Program& program, VirtAddr target) {
  const Function* to = program.functionAt(target);
  if (to == nullptr || !to->bringsCursor) return false;
  const BlockIndex b = to->blockAt(target);
  return b != kNone && to->blocks[b].head;  // else the jump leads to the original
}

// Original code, to which indirect jumps may lead, returns with what its last callee left there; and whose
// return may lead elsewhere may come back by way of anything.
bool bringsCursor(const Program& program, const Function& f) {
  if (f.runsOn() || f.returnsToAnybody) return false;
  return std::ranges::all_of(f.blocks, [&](const Block& block) {
    const Instruction& last = f.lastOf(block);
    if (!block.reached) return true;
    switch (block.kind) {
      case BlockEnd::FallThrough:
      case BlockEnd::Jump:
        return block.successor[0] != kNone;
      case BlockEnd::Branch:
        return block.successor[1] != kNone &&
               (block.successor[0] != kNone || leadsToBringer(program, last.target));
      case BlockEnd::TailJump:
        return last.flow == Flow::Jump && leadsToBringer(program, last.target);
      case BlockEnd::Multiway:
      case BlockEnd::UnknownJump:
        return false;
      case BlockEnd::Call:
      case BlockEnd::IndirectCall:
      case BlockEnd::Return:
      case BlockEnd::Trap:
        return true;
    }
    return false;
  });
}

}  // namespace

void findCursorKeepers(Program& program) {
  // Whatever may be entered in its middle by code that does not keep it, does not keep it either.
  for (bool changed = true; changed;) {
    changed = false;
    for (const Function& from : program.functions) {
      if (from.keepsCursor) continue;
      const auto enters = [&](Function* to, bool atStart) {
        if (to == nullptr || to == &from || !to->keepsCursor) return;
        if (atStart) {
          to->enteredWithoutCursor = true;
        } else {
          to->keepsCursor = false;
          changed = true;
        }
      };
      const auto leadsTo = [&](VirtAddr target) {
        Function* to = program.functionAt(target);
        enters(to, to != nullptr && to->start == target);
      };
      for (const Instruction& insn : from.instructions)
        if (insn.target.value != 0) leadsTo(insn.target);
      if (from.runsOn()) leadsTo(from.end());
      for (const std::uint32_t kin : from.kin) enters(&program.functions[kin], false);
    }
  }
}

void findCursorBringers(Program& program) {
  std::vector<Function*> left;
  for (Function& f : program.functions) {
    f.bringsCursor = f.keepsCursor && f.skip == SkipReason::None;
    if (f.bringsCursor) left.push_back(&f);
  }
  const auto losesIt = [&program](Function* f) {
    f->bringsCursor = bringsCursor(program, *f);
    return !f->bringsCursor;
  };
  // As long as there was one to which others may lead.
  while (std::erase_if(left, losesIt) != 0) {
  }
  for (Function& f : program.functions)
    for (Block& block : f.blocks)
      block.bringsCursor = f.keepsCursor && block.kind == BlockEnd::Call && block.callee != kNone &&
                           program.functions[block.callee].bringsCursor;
}

}  // namespace traceback::instrument
