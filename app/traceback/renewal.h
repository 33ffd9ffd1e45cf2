// What earlier runs have left is learned, and copies that it would have otherwise are made anew, while
// programs run by those that there are: nobody who did not ask for it waits, and no server does that executes
// itself anew. At the least priority, and the first to go where memory is short.
#pragma once

#include "app/traceback/on_demand.h"

namespace traceback::app {

// Leaves that to a `traceback renew`, a process that is nobody's child, if there is something to learn from
// (learning.h) or to make anew. The first process of a container would have that for a child of its own, when
// it is the program: there all is done before this returns.
void learnAndRenew(const std::filesystem::path& traceback, const InstrumentedCache& cache,
                   const instrument::Options& options);

// What `traceback renew` does. Nothing where another one is at it.
void renewAlone(const InstrumentedCache& cache, const instrument::Options& options);

// Behind whoever is at it. What waits in other parts of the cache is left to the next run by these.
void renewNow(const InstrumentedCache& cache, const instrument::Options& options);

}  // namespace traceback::app
