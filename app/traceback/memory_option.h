// --memory, of the commands that make snaps.
#pragma once

#include <optional>
#include <string>

#include "runtime/format/process.h"

namespace CLI {
class App;
}

namespace traceback::app {

void addMemoryOption(CLI::App& command, std::string& memory);

// Of a name that the option takes; nothing if it was not given.
std::optional<format::KeptMemory> keptMemory(const std::string& memory);

}  // namespace traceback::app
