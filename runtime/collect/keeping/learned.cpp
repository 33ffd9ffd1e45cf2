#include "runtime/collect/keeping/learned.h"

#include <sys/file.h>

#include <format>

#include "runtime/collect/files/private_folder.h"
#include "runtime/collect/files/process_folder.h"
#include "runtime/collect/keeping/ended.h"
#include "runtime/collect/snap/snap_assembly.h"

namespace traceback::collect {

namespace fs = std::filesystem;

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
    if (const auto process = readProcessHeader(folder); process && process->learns != 0)
      found.push_back(folder);
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
