// Which functions get a jump at their entry, and where it goes.
#pragma once

#include "instrument/analysis/code_targets.h"
#include "instrument/emit/function_emitter.h"

namespace traceback::instrument {

// The window of a function's entry jump, or nothing if it can have none. Then the function is copied all the
// same if direct calls or jumps of other functions lead to it (as to parts that the compiler moved away,
// f.cold): from their copies they reach its copy. Whoever else enters it runs the original, untraced
// (entryLeft). With no such callers it is marked to be skipped. Needs flow graph and liveness.
std::optional<EntryWindow> chooseEntryWindow(const Program& program, const CodeTargets& targets,
                                             Function& function);

}  // namespace traceback::instrument
