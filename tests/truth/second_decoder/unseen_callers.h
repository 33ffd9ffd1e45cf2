// What functions tell of callers that are not seen, and expect more of them than the System V ABI promises.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/truth/second_decoder/liveness.h"

namespace traceback::truth {

// Whether the function reads registers in which nothing is passed to it, other than to keep them.
bool takesOtherRegisters(const std::vector<Effects>& code);

// Of the registers that it may change: those that it loads and returns with, though nothing up to there reads
// them. All, if it has stored one of these before.
std::uint16_t restoredRegisters(const std::vector<Effects>& code);

}  // namespace traceback::truth
