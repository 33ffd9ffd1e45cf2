// Where the debug information of a module is: in itself, or in a file that belongs to it.
#pragma once

#include <string>
#include <vector>

#include "loader/symbols/line_source.h"
#include "loader/symbols/object_file.h"

namespace traceback::loader {

// Files that are proven to belong to the module: by build id, or, if it has none, by the CRC of a
// .gnu_debuglink, or, for the recorded path alone, by nothing, which a note says.
struct DebugFiles {
  std::vector<ObjectFile> files;   // the first with lines, if any, is first; then others that have symbols
  std::vector<std::string> notes;  // what was found and not used, and why
};

// Looks in this order, until a file has DWARF lines:
//   1. what the user named: files; folders, in them .build-id/xx/rest.debug, xx/rest.debug, NAME.debug, NAME,
//      and the module's whole path with and without .debug
//   2. the recorded path of the original, then the file that was mapped
//   3. /usr/lib/debug/.build-id/xx/rest.debug
//   4. .gnu_debuglink: beside the original, in .debug beside it, below /usr/lib/debug
//   5. debuginfod, if the module names it and DEBUGINFOD_URLS is set
DebugFiles findDebugFiles(const ModuleFiles& module);

}  // namespace traceback::loader
