// What a run leaves for the next one to cost less (TRACEBACK_LEARN, which `traceback run` sets): while its
// program is not known well enough by a profile, about one of a hundred records is counted (history.h), and
// what was counted stays when the process ends by itself.
//
//   RINGS/learned-N     what was its folder (runtime/format/process.h): the process file, and the ring files
//                       without records. N is below kLearnedFolders
//
// The next `traceback run` makes profiles of it.
#pragma once

namespace traceback::inject {

// At the start, once the program itself is bound; before any ring is made.
void beginLearning(bool isProgramKnown);

// At the end of the process. False, and nothing done that matters, if its folder is to be removed.
bool leaveLearned();

}  // namespace traceback::inject
