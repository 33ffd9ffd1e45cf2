#include "instrument/flow/bad_ends.h"

namespace traceback::instrument {

using format::BlockEnd;

// Twice, for most edges lead forward, and few chains of those that do not matter.
BadEnds::BadEnds(const Function& f) : m_endsBadly(f.blocks.size()) {
  for (int round = 0; round < 2; ++round)
    for (std::size_t b = f.blocks.size(); b-- > 0;) m_endsBadly[b] = isOne(f.blocks[b]);
}

bool BadEnds::isOne(const Block& block) const {
  switch (block.kind) {
    case BlockEnd::Trap:
      return true;
    case BlockEnd::FallThrough:
    case BlockEnd::Jump:
      return block.successor[0] != kNone && contains(block.successor[0]);
    case BlockEnd::Call:
      return contains(block.successor[0]);
    case BlockEnd::Branch:
      return contains(block.successor[0]) && contains(block.successor[1]);
    default:
      return false;
  }
}

}  // namespace traceback::instrument
