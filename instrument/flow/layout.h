// In which order the blocks of a copy stand.
#pragma once

#include <vector>

#include "instrument/flow/function.h"

namespace traceback::instrument {

// As in the original; by a profile, if there is one, so that control mostly falls from block to block, and
// what never ran is behind the rest. What is behind a call stays behind it.
std::vector<BlockIndex> layOut(const Function& f);

}  // namespace traceback::instrument
