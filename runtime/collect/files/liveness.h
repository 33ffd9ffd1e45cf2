// Whether a process that left a folder still runs.
#pragma once

#include <filesystem>

#include "runtime/collect/files/process_folder.h"

namespace traceback::collect {

// Numbers are of a name space (pid_namespaces(7)): of a process in another one than the caller's it is looked
// among all processes, if the caller is in the first name space, which sees them all; else it is taken to
// run.
bool mayRun(const std::filesystem::path& folder, const ProcessName& name);

}  // namespace traceback::collect
