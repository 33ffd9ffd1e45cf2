// What a profile (model/branch_profile.h) says of a module's blocks.
#pragma once

#include "instrument/analysis/program.h"
#include "instrument/instrument.h"

namespace traceback::instrument {

// Notes it at the blocks (Block::taken, cold, ran), if the options name a profile that has the module.
// Fails if it cannot be read, or is another by now than useProfile() found. Says whether it knows the program
// well enough (model::kKnownRecords).
model::Result<bool> applyProfile(Program& program, const Options& options);

}  // namespace traceback::instrument
