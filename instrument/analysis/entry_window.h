// Which functions get a jump at their entry, and where it goes.
#pragma once

#include "instrument/analysis/code_targets.h"
#include "instrument/emit/function_emitter.h"

namespace traceback::instrument {

// The window of a function's entry jump, or nothing if it has none or can have none. In the latter case the
// function is marked to be skipped if it is entered from elsewhere than by jumps of other functions; a part
// that the compiler moved away (f.cold) is copied all the same. Needs flow graph and liveness.
std::optional<EntryWindow> chooseEntryWindow(const Program& program, const CodeTargets& targets,
                                             Function& function);

}  // namespace traceback::instrument
