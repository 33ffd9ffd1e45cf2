// What a snap has of a process that lives.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "model/error.h"
#include "runtime/collect/snap/snap_assembly.h"
#include "runtime/format/snap.h"

namespace traceback::collect {

// Its folder, found by the process file that it has mapped, as its `maps` say: wherever it put it.
// `ringFolder`: where it would be for us; empty: defaultRingFolder().
model::Result<std::filesystem::path> folderOf(pid_t pid, const std::string& maps,
                                              const std::filesystem::path& ringFolder);

// All but the reason. Stops every thread for as long as it takes. `kept`: nothing: as the process was told.
model::Result<SnapContents> readLiving(pid_t pid, const std::filesystem::path& folder,
                                       std::optional<format::KeptMemory> kept);
// As readLiving(), or if the process may not be stopped (a debugger has it, it is not dumpable) without
// registers: a thread at fault waits for us anyway, and the others' rings are read as they run.
model::Result<SnapContents> readIfNeedBeRunning(pid_t pid, const std::filesystem::path& folder,
                                                std::optional<format::KeptMemory> kept);

// That it is made now.
void setTime(SnapContents& contents);

}  // namespace traceback::collect
