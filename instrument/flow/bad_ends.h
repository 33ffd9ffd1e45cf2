// Blocks from which control can only come to a trap, or to a call that does not come back: of failed
// assertions, errors that are thrown on, and a process's last steps.
#pragma once

#include <vector>

#include "instrument/flow/function.h"

namespace traceback::instrument {

class BadEnds {
 public:
  explicit BadEnds(const Function& function);

  // Also of kNone: where nothing behind the block is known, or a part that was moved away, for it hardly
  // ever runs.
  bool contains(BlockIndex b) const { return b == kNone || m_endsBadly[b]; }

 private:
  bool isOne(const Block& block) const;

  std::vector<bool> m_endsBadly;  // by block
};

}  // namespace traceback::instrument
