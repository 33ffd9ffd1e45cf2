#include "runtime/collect/keeping/housekeeping.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

#include "runtime/collect/files/file_rights.h"
#include "runtime/collect/files/former_root.h"
#include "runtime/collect/files/liveness.h"
#include "runtime/collect/files/ring_folder.h"
#include "runtime/collect/files/system_file.h"

namespace traceback::collect {

namespace {

namespace fs = std::filesystem;

// The seconds since the file `ended` was made, which is made now if it is missing; 0 if that cannot be said.
std::uint64_t secondsSinceEnd(int folder) {
  const SystemFile mark(
      ::openat(folder, "ended", O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600));
  struct stat status{};
  const time_t now = ::time(nullptr);
  if (!mark.isOpen() || ::fstat(mark.descriptor(), &status) != 0 || status.st_mtim.tv_sec > now) return 0;
  return static_cast<std::uint64_t>(now - status.st_mtim.tv_sec);
}

void tidyRingsOf(const fs::path& path, const ProcessName& name, std::chrono::seconds keep, bool isOthers) {
  if (mayRun(path, name)) return;
  const auto folder = openProcessFolder(path);
  if (!folder || (folder->owner != ::geteuid()) != isOthers) return;
  const auto rights = FileRights::of(folder->owner);
  if (!rights || ::flock(folder->file.descriptor(), LOCK_EX | LOCK_NB) != 0) return;
  if (secondsSinceEnd(folder->file.descriptor()) > static_cast<std::uint64_t>(keep.count()))
    removeFolder(*folder);
}

}  // namespace

void tidyRings(const fs::path& ringFolder, std::chrono::seconds keep) {
  if (keep.count() == 0) return;
  for (const auto& [path, name] : processFoldersIn(ringFolder)) tidyRingsOf(path, name, keep, false);
  for (const auto& [path, name] : foldersOfFormerRoot()) tidyRingsOf(path, name, keep, true);
}

}  // namespace traceback::collect
