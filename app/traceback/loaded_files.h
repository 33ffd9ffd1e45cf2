// The files that a program loads when it starts, or that a process has loaded.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/traceback/instrumented_cache.h"
#include "model/error.h"

namespace traceback::app {

struct LoadedFile {
  // Of the original: of a program without links, of a library as the dynamic linker looks for it. Of one that
  // is not found, its name.
  std::string path;
  // Where its bytes are to be read: elsewhere if the process has other folders than we. Empty if they cannot
  // be.
  std::filesystem::path contents;
  std::string reason;  // then: why not
};

struct LoadedFiles {
  std::optional<pid_t> pid;
  bool recorded = false;  // the process runs copies that `run` made
  std::string untraced;  // why none of them is traced, whatever they are; may be empty
  std::string notListed;  // why libraries are missing here; may be empty
  std::vector<LoadedFile> files;  // the program first
};

// A script's program is its interpreter, or what `env` starts for it. The libraries are those that the
// program's own dynamic linker names, which is started for that: none of the program's code runs.
model::Result<LoadedFiles> filesOfProgram(const std::filesystem::path& program);

// From /proc/PID/maps, so with what was loaded later. `cache` tells copies from originals.
model::Result<LoadedFiles> filesOfProcess(pid_t pid, const std::optional<InstrumentedCache>& cache);

}  // namespace traceback::app
