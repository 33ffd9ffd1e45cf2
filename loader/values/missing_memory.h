// Which values could not be had because the snap did not keep the memory that they lie in.
#pragma once

#include <span>

#include "model/values.h"
#include "runtime/format/mappings.h"

namespace traceback::loader {

// Whether gdb could not access memory for one of them that the process could write: that would have been kept
// with more of its memory. Where there was none, the program had a wrong address.
bool missesMemory(const model::Values& values, std::span<const format::Mapping> mappings);

}  // namespace traceback::loader
