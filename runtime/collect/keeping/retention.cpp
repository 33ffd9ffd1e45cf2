#include "runtime/collect/keeping/retention.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/collect/snap/snap_writer.h"
#include "runtime/format/snap.h"

namespace traceback::collect {

namespace {

struct Kept {
  std::filesystem::path path;
  std::uint64_t size = 0;
  time_t written = 0;
};

// Oldest first.
std::vector<Kept> snapsIn(const std::filesystem::path& folder) {
  std::vector<Kept> snaps;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    struct stat status{};
    if (it->path().extension() != format::kSnapSuffix || ::lstat(it->path().c_str(), &status) != 0) continue;
    if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid()) continue;
    snaps.push_back({it->path(), static_cast<std::uint64_t>(status.st_size), status.st_mtim.tv_sec});
  }
  std::ranges::sort(snaps, [](const Kept& a, const Kept& b) {
    return a.written != b.written ? a.written < b.written : a.path < b.path;
  });
  return snaps;
}

// What somebody who wrote a snap left as he was killed. No snap takes that long to be written.
void removePartial(const std::filesystem::path& folder) {
  constexpr time_t kLongest = 3600;
  const time_t now = ::time(nullptr);
  std::error_code error;
  std::vector<std::filesystem::path> left;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    struct stat status{};
    if (!name.starts_with('.') || !name.contains(kPartialMark) || ::lstat(it->path().c_str(), &status) != 0)
      continue;
    if (S_ISREG(status.st_mode) && status.st_uid == ::geteuid() && now - status.st_mtim.tv_sec > kLongest)
      left.push_back(it->path());
  }
  for (const auto& path : left) ::unlink(path.c_str());
}

}  // namespace

void keepWithin(const std::filesystem::path& folder, const SnapLimits& limits,
                const std::filesystem::path& newest) {
  removePartial(folder);
  if (limits.diskLimit == 0 && limits.keepSeconds == 0) return;
  const std::vector<Kept> snaps = snapsIn(folder);
  std::uint64_t total = 0;
  for (const Kept& snap : snaps) total += snap.size;
  const time_t now = ::time(nullptr);
  for (const Kept& snap : snaps) {
    const bool tooOld = limits.keepSeconds != 0 && now > snap.written &&
                        static_cast<std::uint64_t>(now - snap.written) > limits.keepSeconds;
    const bool tooMany = limits.diskLimit != 0 && total > limits.diskLimit;
    if (snap.path.filename() == newest.filename() || (!tooOld && !tooMany)) continue;
    if (::unlink(snap.path.c_str()) == 0) total -= snap.size;
  }
}

}  // namespace traceback::collect
