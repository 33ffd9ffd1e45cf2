// Which form the head probe of a block has: in place, or a call of a routine; and where it finds the cursor.
#pragma once

#include "instrument/emit/function_emitter.h"
#include "instrument/emit/probes.h"
#include "instrument/flow/function.h"

namespace traceback::instrument {

// What probes may use at the block's start.
inline Free freeAt(const Block& block) { return {RegisterSet(~block.live), block.liveFlags == 0}; }

// Of one function.
class HeadForms {
 public:
  HeadForms(const Function& function, const EmitOptions& options);

  bool hasProbe(const Block& block) const { return block.head && m_options.probes; }
  bool keepsCursor() const { return m_keeps; }
  // Whether probes may call routines wherever they stand: that takes the words below the stack pointer.
  bool callsRoutines() const { return m_shares && m_callsOthers; }

  // In place it costs no call; as a call, few bytes.
  bool isShared(const Block& block) const {
    return canBeShared(block) && (block.cold || !m_options.headsInPlace);
  }
  // Whether the function's entry compares the cursor for those that come without it, rather than loads it.
  bool comparesAtEntry() const { return !m_function.blocks.front().cold; }
  // Of an entry: then nothing is to be loaded in front of it for those that come without the cursor.
  bool sharesEntry(const Block& block) const { return hasProbe(block) && isFront(block) && isShared(block); }
  Cursor cursorAt(const Block& block) const;
  // Whether what stands behind the call relies on the cursor in xmm15.
  bool comesBackWithCursor(const Block& call) const;

 private:
  bool isFront(const Block& block) const { return &block == &m_function.blocks.front(); }
  bool canBeShared(const Block& block) const;
  bool isEnteredByCalls(const Block& block) const;
  bool isBrought(const Block& block) const;

  const Function& m_function;
  const EmitOptions& m_options;
  const bool m_keeps;  // the cursor
  const bool m_shares;  // head probes, where they can be
  const bool m_callsOthers;
};

}  // namespace traceback::instrument
