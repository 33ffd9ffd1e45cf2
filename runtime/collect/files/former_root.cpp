#include "runtime/collect/files/former_root.h"

#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <optional>

#include "runtime/collect/files/file_rights.h"

namespace traceback::collect {

namespace {

namespace fs = std::filesystem;

constexpr char kShared[] = "/dev/shm";
constexpr std::string_view kName = "traceback-";  // and the user's number (process.h)

// Another user's, if it is that user's alone.
std::optional<uid_t> otherUserOf(const fs::path& ringFolder) {
  const std::string name = ringFolder.filename().string();
  if (!name.starts_with(kName)) return {};
  uid_t user = 0;
  const char* const end = name.data() + name.size();
  const auto [stopped, error] = std::from_chars(name.data() + kName.size(), end, user);
  struct stat status{};
  if (error != std::errc() || stopped != end || user == ::geteuid() ||
      ::lstat(ringFolder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != user ||
      (status.st_mode & 077) != 0)
    return {};
  return user;
}

}  // namespace

std::vector<NamedFolder> foldersOfFormerRoot() {
  std::vector<NamedFolder> found;
  if (::geteuid() != 0) return found;
  std::error_code error;
  for (fs::directory_iterator it(kShared, error), end; !error && it != end; it.increment(error)) {
    const auto user = otherUserOf(it->path());
    if (!user) continue;
    const auto rights = FileRights::of(*user);
    if (!rights) continue;
    std::error_code unlisted;
    for (NamedFolder& folder : listProcessFolders(it->path(), unlisted))
      if (const auto header = readProcessHeader(folder.path); header && header->startedBy == 1)
        found.push_back(std::move(folder));
  }
  return found;
}

}  // namespace traceback::collect
