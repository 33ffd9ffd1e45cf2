#include "instrument/analysis/moved_parts.h"

#include "instrument/unwind/cfa_rows.h"

namespace traceback::instrument {

bool isMovedPart(const Program& program, const Function& function) {
  if (function.entered) return false;
  const Fde& fde = program.ehFrame.fdes[function.fde];
  const Cie& cie = program.ehFrame.cies[fde.cie];
  const auto rows = unwindRows(cie, fde);
  return rows && rows->at(0).cfa != rows->initial.cfa;
}

}  // namespace traceback::instrument
