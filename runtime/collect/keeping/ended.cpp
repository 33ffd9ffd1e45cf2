#include "runtime/collect/keeping/ended.h"

#include <algorithm>

#include "runtime/collect/files/former_root.h"
#include "runtime/collect/files/liveness.h"
#include "runtime/collect/files/process_folder.h"
#include "runtime/collect/files/ring_folder.h"
#include "runtime/format/process.h"

namespace traceback::collect {

namespace fs = std::filesystem;

namespace {

bool hasEnded(const NamedFolder& folder) {
  const auto header = readProcessHeader(folder.path);
  return header && header->state == static_cast<std::uint32_t>(format::ProcessState::Exited) &&
         !mayRun(folder.path, folder.name);
}

}  // namespace

std::vector<fs::path> endedFolders(const fs::path& ringFolder) {
  std::vector<fs::path> ended;
  for (const NamedFolder& folder : processFoldersIn(ringFolder))
    if (hasEnded(folder)) ended.push_back(folder.path);
  return ended;
}

void removeEnded(const fs::path& ringFolder, const std::vector<fs::path>& kept) {
  for (const fs::path& folder : endedFolders(ringFolder))
    if (!std::ranges::contains(kept, folder)) removeFolder(folder);
  for (const NamedFolder& folder : foldersOfFormerRoot())
    if (hasEnded(folder)) removeFolder(folder.path);
}

}  // namespace traceback::collect
