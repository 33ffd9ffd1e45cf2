// Exception tables for copies.
#pragma once

#include "instrument/unwind/byte_sink.h"
#include "instrument/unwind/lsda.h"
#include "instrument/unwind/unwind_builder.h"

namespace traceback::instrument {

// Appends the table for a fragment to `out`, whose first byte is to be at `base`; answers where the table
// begins. Ranges without a call site stay without one, for there the personality ends the program.
model::Result<model::VirtAddr> appendLsda(ByteSink& out, std::uint64_t base, const Lsda& original,
                                          const Fragment& fragment, const LandingPads& landingPads);

}  // namespace traceback::instrument
