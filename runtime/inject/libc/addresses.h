// Addresses of code that the program is told: they are the original's.
#pragma once

#include <cstdint>

namespace traceback::inject {

// Of frames, as whoever unwinds finds them: whether it is the runtime's own; and what the program is shown of
// others. `isInterrupted`: by a signal, whose handler is the frame before; else it is where a call returns
// to.
bool isRuntimeFrame(std::uint64_t address);
std::uint64_t shownFrame(std::uint64_t address, bool isInterrupted);

}  // namespace traceback::inject
