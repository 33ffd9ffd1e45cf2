// DAG tiling (the paper, section 2.1 and figure 2): decides which blocks head a DAG, which DAG each of the
// others belongs to, and which bit of the path says that it ran.
#pragma once

#include "instrument/flow/function.h"

namespace traceback::instrument {

// Fills Function::dags and the blocks' head, dag and bit. A block that is no head belongs to the one DAG that
// all its predecessors belong to, and has a bit if some edge to it is conditional. What cannot be fitted in,
// for want of bits or because its predecessors are in different DAGs, becomes a head.
void tile(Function& function);

// Gives every DAG its codes, counted from the module's base. Returns the first free code after them.
std::uint32_t assignCodes(Function& function, std::uint32_t firstFree);

}  // namespace traceback::instrument
