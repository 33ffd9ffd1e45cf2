// DAG tiling (the paper, section 2.1 and figure 2): decides which blocks head a DAG, and which branches have
// a bit of the path.
//
// A DAG is all that can be reached from its head without coming to another, so a block may be in several.
// Where a branch leads on within a DAG, one of its two edges sets a bit: the one that is thought to be taken
// less often, and costs less. That the bit is clear says that the other was taken.
#pragma once

#include <span>

#include "instrument/flow/function.h"

namespace traceback::instrument {

// Fills Function::dags, Function::order, Function::entryBits, and the blocks' head, dag, bit, bitEdge and
// passesEntry. Beside the blocks that are heads already, those become heads behind which there is room for no
// more than `mostBits` branches. May be called again. `functions`: what Block::callee counts in; those
// callees that a record may pass into must be tiled.
void tile(Function& function, unsigned mostBits, std::span<const Function> functions = {});

// Whether the probe that sets the block's bit stands at the front of the block to which the branch leads when
// taken: only this branch leads there.
bool bitIsSetInTarget(const Function& function, const Block& block);

// Gives every DAG its codes, counted from the module's base. Returns the first free code after them.
std::uint32_t assignCodes(Function& function, std::uint32_t firstFree);

}  // namespace traceback::instrument
