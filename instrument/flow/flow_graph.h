// Divides a function into blocks and finds the edges between them.
#pragma once

#include "instrument/flow/function.h"

namespace traceback::instrument {

// Fills Function::blocks from its instructions, landing pads and known targets. A block ends at a transfer
// of control, calls included, and in front of anything that control may reach otherwise. Sets the blocks that
// must be heads whatever the tiling: entries of any kind, return points, loop heads.
void buildFlowGraph(Function& function, bool openHeads = true);

}  // namespace traceback::instrument
