#include "instrument/flow/cursor_keepers.h"

namespace traceback::instrument {

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

}  // namespace traceback::instrument
