#include "runtime/collect/learned.h"

#include <sys/file.h>

#include <algorithm>
#include <cstring>
#include <format>

#include "runtime/collect/private_folder.h"
#include "runtime/collect/process_folder.h"
#include "runtime/collect/recover.h"
#include "runtime/collect/ring_folder.h"
#include "runtime/collect/snap_assembly.h"
#include "runtime/format/history.h"

namespace traceback::collect {

namespace fs = std::filesystem;

namespace {

// Of its rings one has a table of counts.
bool countsForProfiles(const fs::path& folder) {
  const auto opened = openProcessFolder(folder);
  const auto process = opened ? readProcessFolder(*opened) : std::unexpected(opened.error());
  return process && std::ranges::any_of(process->rings, [](const RingFile& ring) {
           const auto header = ring.header();
           format::HistoryHeader history;
           if (!header || header->historyOffset > ring.bytes.size() ||
               ring.bytes.size() - header->historyOffset < sizeof history)
             return false;
           std::memcpy(&history, ring.bytes.data() + header->historyOffset, sizeof history);
           return header->historyOffset != 0 && history.countSlots != 0;
         });
}

}  // namespace

std::vector<fs::path> learnedFolders(const fs::path& ringFolder) {
  std::vector<fs::path> found;
  std::error_code none;
  for (unsigned number = 0; number < format::kLearnedFolders; ++number) {
    const fs::path folder = ringFolder / std::format("{}{}", format::kLearnedFolder, number);
    if (fs::is_directory(fs::symlink_status(folder, none))) found.push_back(folder);
  }
  if (!found.empty() && !checkPrivateFolder(ringFolder)) found.clear();
  for (const fs::path& folder : endedFolders(ringFolder)) {
    if (found.size() >= 2 * format::kLearnedFolders) break;
    if (countsForProfiles(folder)) found.push_back(folder);
  }
  return found;
}

model::Result<fs::path> takeLearned(const fs::path& path, const fs::path& snapFolder) {
  const auto opened = openProcessFolder(path);
  if (!opened) return std::unexpected(opened.error());
  if (::flock(opened->file.descriptor(), LOCK_EX | LOCK_NB) != 0)
    return model::fail("others are learning from it", path.string());
  auto folder = readProcessFolder(*opened);
  model::Result<fs::path> snap = std::unexpected(folder ? model::Error() : folder.error());
  if (folder) {
    SnapContents contents;
    contents.folder = std::move(*folder);
    contents.reason = format::SnapReason::Policy;
    contents.occasion = "ended";
    snap = writeSnap(contents, snapFolder);
  }
  removeFolder(*opened);
  return snap;
}

}  // namespace traceback::collect
