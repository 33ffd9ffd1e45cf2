#include "app/traceback/installation.h"

#include <cstdlib>
#include <system_error>

namespace traceback::app {

namespace fs = std::filesystem;

namespace {

fs::path firstThatExists(std::initializer_list<fs::path> candidates) {
  for (const auto& candidate : candidates) {
    std::error_code ignored;
    if (fs::is_regular_file(candidate, ignored)) return fs::canonical(candidate, ignored);
  }
  return {};
}

std::optional<fs::path> baseFolder(const char* variable, const char* underHome) {
  if (const char* value = std::getenv(variable); value != nullptr && value[0] == '/') {
    return fs::path(value) / "traceback";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/') {
    return fs::path(home) / underHome / "traceback";
  }
  return std::nullopt;
}

}  // namespace

model::Result<Installation> findInstallation() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error)
    return model::fail("cannot be read, so the runtime cannot be found: mount /proc", "/proc/self/exe");
  const fs::path folder = program.parent_path();
  const auto library = [&](const char* name) {
    return firstThatExists(
        {folder / "../lib" / name, folder / ".." / TRACEBACK_LIBDIR / name, folder / name});
  };
  return Installation{
      .program = program,
      .runtime = library("libtraceback.so"),
      .audit = library("libtraceback-audit.so"),
      .viewer = firstThatExists({folder / "traceback-viewer"}),
  };
}

std::optional<fs::path> cacheFolder() {
  // For services: XDG_CACHE_HOME is the program's, too.
  if (const char* value = std::getenv("TRACEBACK_CACHE_DIR"); value != nullptr && value[0] == '/')
    return value;
  return baseFolder("XDG_CACHE_HOME", ".cache");
}

std::optional<fs::path> stateFolder() { return baseFolder("XDG_STATE_HOME", ".local/state"); }

std::optional<fs::path> profileFolder() {
  auto folder = baseFolder("XDG_DATA_HOME", ".local/share");
  if (folder) *folder /= "profiles";
  return folder;
}

}  // namespace traceback::app
