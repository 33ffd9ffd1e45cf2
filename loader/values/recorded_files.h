// The files that a process had mapped, as far as they are here and are the same ones still.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loader/core/recorded_process.h"

namespace traceback::loader {

struct RecordedFile {
  std::string path;  // of the original, or of what takes its place here
  std::uint64_t start = 0, end = 0;
  bool isHere = false;  // with the build id that it had; without one, nothing can tell
  bool isProgram = false;
  bool isRecorder = false;
};

// Those with code.
std::vector<RecordedFile> recordedFiles(const RecordedProcess& process);

}  // namespace traceback::loader
