// Which lines of a source file have code, as the debug information of a module says.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "loader/symbols/line_source.h"

namespace traceback::loader {

// Ascending; of instructions at which the line table recommends a stop. `file` is as a Trace has it. Nothing
// if there is no debug information or nothing of the file in it, or if stopped. Reads through the line tables
// of all compilation units that name the file: seconds for a large module.
std::optional<std::vector<std::uint32_t>> linesWithCode(const ModuleFiles& module, const std::string& file,
                                                        const std::stop_token& stop = {});

}  // namespace traceback::loader
