// Lines, inlined frames and functions of a module, by libdw.
#pragma once

#include <memory>
#include <string>

#include "loader/symbols/line_source.h"

namespace traceback::loader {

// A LineSourceFactory. Finds the module's debug information (debug_files.h) and reads a compilation unit of
// it when an address in it is asked for, once. Null if there are neither lines nor names.
std::unique_ptr<LineSource> openLineSource(const ModuleFiles& files, std::string& note);

}  // namespace traceback::loader
