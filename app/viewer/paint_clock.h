// How long this process has been running, from its very start, libraries and all.
#pragma once

#include <cstdint>

namespace traceback::app {

// Exact to the kernel's clock tick, commonly 10 ms; 0 if the kernel does not say.
std::int64_t millisecondsSinceStart();

}  // namespace traceback::app
