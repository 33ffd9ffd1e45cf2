// That an instrumented file still is the original as far as the program can see it.
#pragma once

#include "tests/truth/second_decoder/copy_checker.h"

namespace traceback::truth {

// `windows`: the entries' jumps, five bytes each, sorted. `poisoned`: what has a copy may be breakpoints.
void checkOldBytes(const ElfFile& original, const InstrumentedFile& file,
                   const std::vector<std::uint64_t>& windows, bool poisoned, Findings& findings);

}  // namespace traceback::truth
