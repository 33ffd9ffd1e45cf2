#include "instrument/emit/head_forms.h"

#include <algorithm>

namespace traceback::instrument {

HeadForms::HeadForms(const Function& function, const EmitOptions& options)
    : m_function(function),
      m_options(options),
      m_keeps(function.keepsCursor && options.probes && options.keepCursor),
      m_shares(options.sharedHeads &&
               std::ranges::none_of(function.instructions, &Instruction::namesBelowStack)),
      m_callsOthers(function.callsOthers()) {}

bool HeadForms::canBeShared(const Block& block) const {
  if (!m_shares || !freeAt(block).flags) return false;
  if ((block.flags & format::kBlockReturnPoint) != 0) return true;
  return block.cold && (m_callsOthers || isEnteredByCalls(block));
}

// Where something was just called, or jumped to in place of its caller.
bool HeadForms::isEnteredByCalls(const Block& block) const {
  return isFront(block) && block.predecessors.empty() && m_function.entered && m_function.outsideJumps == 0;
}

Cursor HeadForms::cursorAt(const Block& block) const {
  if (!m_keeps) return Cursor::InMemory;
  constexpr auto kFromElsewhere = format::kBlockReturnPoint | format::kBlockLandingPad;
  if (isBrought(block)) return isShared(block) ? Cursor::Kept : Cursor::Brought;
  return (block.flags & kFromElsewhere) == 0 && !sharesEntry(block) ? Cursor::Kept : Cursor::Loaded;
}

// Whether all calls that return there bring the cursor.
bool HeadForms::isBrought(const Block& block) const {
  constexpr auto kBehindCall = format::kBlockReturnPoint | format::kBlockLandingPad;
  if (!m_keeps || (block.flags & kBehindCall) != format::kBlockReturnPoint || !canBeShared(block))
    return false;
  return std::ranges::all_of(block.predecessors, [this](BlockIndex p) {
    const Block& from = m_function.blocks[p];
    return from.kind == format::BlockEnd::Call ? from.bringsCursor
                                               : from.kind != format::BlockEnd::IndirectCall;
  });
}

bool HeadForms::comesBackWithCursor(const Block& call) const {
  return call.kind == format::BlockEnd::Call && call.successor[0] != kNone &&
         isBrought(m_function.blocks[call.successor[0]]);
}

}  // namespace traceback::instrument
