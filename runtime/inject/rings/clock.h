// The clock that threads are ordered by: the time stamp counter where all processors agree on it, else a
// number that grows with each reading and so orders them, but tells no time (the paper, section 3.5).
#pragma once

#include <cstdint>

namespace traceback::inject {

// Never twice the same from the logical clock. Not before the process file is there, where that is in use.
std::uint64_t timeStamp();

// Of this processor: how much time went by, roughly, whether or not processors agree.
std::uint64_t processorTicks();

// Whether the counter can be trusted; asked once, when the process file is made.
bool counterIsTrusted();

}  // namespace traceback::inject
