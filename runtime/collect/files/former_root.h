// Processes that root started and that were forked once they had given up its rights: their rings are in a
// folder of the user whom they were by then, where that user alone would look for them.
#pragma once

#include <vector>

#include "runtime/collect/files/ring_folder.h"

namespace traceback::collect {

// For root; none for others. Each user could say so of own processes: what is done with these is no more than
// that user could have done, and no place that they name is believed.
std::vector<NamedFolder> foldersOfFormerRoot();

}  // namespace traceback::collect
