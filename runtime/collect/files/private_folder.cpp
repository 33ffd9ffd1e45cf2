#include "runtime/collect/files/private_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/collect/files/system_file.h"

namespace traceback::collect {

model::Result<void> checkPrivateFolder(const std::filesystem::path& folder) {
  struct stat status{};
  if (::lstat(folder.c_str(), &status) != 0) return failWithErrno("cannot be looked at", folder);
  if (!S_ISDIR(status.st_mode)) return model::fail("is no folder", folder.string());
  if (status.st_uid != ::geteuid() && status.st_uid != 0)
    return model::fail("belongs to another user", folder.string());
  if ((status.st_mode & 077) != 0)
    return model::fail("is open to others: run 'chmod 700' on it", folder.string());
  return {};
}

model::Result<void> makePrivateFolder(const std::filesystem::path& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return failWithErrno("cannot be made", folder);
  return checkPrivateFolder(folder);
}

}  // namespace traceback::collect
