#include "runtime/collect/files/default_folders.h"

#include <unistd.h>

#include <cstdlib>
#include <format>

namespace traceback::collect {

namespace fs = std::filesystem;

fs::path defaultSnapFolder() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return fs::path(state) / "traceback";
  const char* home = std::getenv("HOME");
  return fs::path(home != nullptr && *home == '/' ? home : "/") / ".local/state/traceback";
}

fs::path defaultRingFolder() {
  std::error_code error;
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime == '/' && fs::is_directory(runtime, error))
    return fs::path(runtime) / "traceback";
  return std::format("/dev/shm/traceback-{}", ::geteuid());
}

}  // namespace traceback::collect
