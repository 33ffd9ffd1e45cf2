// The libraries that a program loads as it starts, instrumented before it does, several at once: each on its
// own has parts that one processor does alone, and is waited for when it is loaded.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "app/traceback/instrumented_cache.h"
#include "instrument/instrument.h"

namespace traceback::app {

// Back when there is a copy of each that is meant, by its path, or a reason in the cache why there is none.
// At once as many as there are processors, and as half of the memory that is free has room for. Shows how far
// it is on a terminal.
void prepareLibraries(const InstrumentedCache& cache, const std::filesystem::path& program,
                      const instrument::Options& options,
                      const std::function<bool(const std::string& path)>& isMeant);

}  // namespace traceback::app
