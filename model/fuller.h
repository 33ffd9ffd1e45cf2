// From a trace that shows the newest of what a thread did to one that shows more of it.
#pragma once

#include "model/ids.h"

namespace traceback::model {

class ThreadTrace;

// Where in `fuller` the entry is that is at `at` in `part`: the two end alike. Where they do not agree about
// it, as they may at the beginning of `part`, the nearest that reads alike.
EntryIndex sameEntry(const ThreadTrace& part, EntryIndex at, const ThreadTrace& fuller);

}  // namespace traceback::model
