// Where snaps and rings are if nobody says otherwise.
#pragma once

#include <filesystem>

namespace traceback::collect {

// $XDG_STATE_HOME/traceback, else ~/.local/state/traceback.
std::filesystem::path defaultSnapFolder();
// $XDG_RUNTIME_DIR/traceback if that is a folder, else /dev/shm/traceback-UID (process.h).
std::filesystem::path defaultRingFolder();

}  // namespace traceback::collect
