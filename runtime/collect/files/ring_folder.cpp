#include "runtime/collect/files/ring_folder.h"

#include "runtime/collect/files/private_folder.h"

namespace traceback::collect {

namespace fs = std::filesystem;

std::vector<NamedFolder> listProcessFolders(const fs::path& ringFolder, std::error_code& error) {
  std::vector<NamedFolder> folders;
  for (fs::directory_iterator it(ringFolder, error), end; !error && it != end; it.increment(error))
    if (const auto name = parseProcessName(it->path().filename().string()))
      folders.push_back({it->path(), *name});
  return folders;
}

std::vector<NamedFolder> processFoldersIn(const fs::path& ringFolder) {
  std::error_code error;
  return checkPrivateFolder(ringFolder) ? listProcessFolders(ringFolder, error) : std::vector<NamedFolder>{};
}

}  // namespace traceback::collect
