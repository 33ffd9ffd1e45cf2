#include "runtime/inject/process/learning.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/stat.h>

#include "runtime/format/process.h"
#include "runtime/format/ring.h"
#include "runtime/inject/kernel/files.h"
#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/ring_history.h"

namespace traceback::inject {

namespace {

// Fewer would take what was just not met for what never runs.
constexpr std::uint64_t kLeastLearned = 1 << 18;
// Of memory that stays, in all files together.
constexpr std::uint64_t kMostLeft = 16 << 20;

// What is in front of the history, but for the header, gives its memory back. The bytes that stay.
std::uint64_t dropRecords(int folder, const char* name) {
  const long file = systemCall(__NR_openat, folder, asLong(name), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (failed(file)) return kMostLeft;
  struct stat status{};
  const std::uint64_t history = chosenHistorySize();
  std::uint64_t left = kMostLeft;
  if (!failed(systemCall(__NR_fstat, file, asLong(&status)))) {
    left = static_cast<std::uint64_t>(status.st_size);
    const auto records = static_cast<long>(left - history - format::kRingHeaderSize);
    if (left > history + format::kRingHeaderSize &&
        !failed(systemCall(__NR_fallocate, file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                           format::kRingHeaderSize, records)))
      left = history + format::kRingHeaderSize;
  }
  systemCall(__NR_close, file);
  return left;
}

}  // namespace

void beginLearning(bool isProgramKnown) {
  process.learning = process.environment.learns && !isProgramKnown && !process.environment.historyCounts &&
                     chosenHistorySize() != 0;
}

bool leaveLearned() {
  if (!process.learning || __atomic_load_n(&process.learned, __ATOMIC_RELAXED) < kLeastLearned) return false;
  const int folder = openProcessFolder();
  if (folder < 0) return false;
  std::uint64_t left = 0;
  forEachFile(folder, [&](const char* name) {
    if (endsWith(name, ".ring")) left += dropRecords(folder, name);
  });
  systemCall(__NR_close, folder);
  if (left == 0 || left > kMostLeft) return false;
  // One that is there is not overwritten, for it is not empty.
  for (unsigned number = 0; number < format::kLearnedFolders; ++number) {
    Path place;
    addFolderOf(process.folder, place).add(format::kLearnedFolder).add(std::uint64_t{number});
    if (place.good() &&
        !failed(systemCall(__NR_rename, asLong(process.folder.c_str()), asLong(place.c_str()))))
      return true;
  }
  return false;
}

}  // namespace traceback::inject
