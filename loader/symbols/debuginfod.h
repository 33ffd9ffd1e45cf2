// Debug information from a debuginfod server: only if the user has set DEBUGINFOD_URLS.
#pragma once

#include <string>

namespace traceback::loader {

// The file in debuginfod's cache, fetched if need be; empty if DEBUGINFOD_URLS is not set, the library is not
// installed, or no server has it. `note` says so if the user has set the variable. Blocks as long as
// DEBUGINFOD_TIMEOUT allows.
std::string debuginfodFile(const std::string& buildId, std::string& note);

}  // namespace traceback::loader
