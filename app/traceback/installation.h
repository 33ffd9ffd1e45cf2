// Where the parts of TraceBack lie that a program has to find: beside itself, as built or as installed.
#pragma once

#include <filesystem>
#include <optional>

#include "model/error.h"

namespace traceback::app {

struct Installation {
  std::filesystem::path program;                 // this program: `traceback`, also the collector
  std::filesystem::path runtime;                 // libtraceback.so; empty if it is nowhere
  std::filesystem::path audit;                   // libtraceback-audit.so; empty if it is nowhere
  std::filesystem::path viewer;                  // traceback-viewer; empty if it is nowhere
};

// Looks in ../lib, the installed library folder, and beside the program.
model::Result<Installation> findInstallation();

// $TRACEBACK_CACHE_DIR or else $XDG_CACHE_HOME/traceback; $XDG_STATE_HOME/traceback; the folder for profiles
// in $XDG_DATA_HOME/traceback; with the fallbacks of the XDG Base Directory Specification; nothing if not
// even HOME is set. Relative values are ignored, as the specification says.
std::optional<std::filesystem::path> cacheFolder();
std::optional<std::filesystem::path> stateFolder();
std::optional<std::filesystem::path> profileFolder();

}  // namespace traceback::app
