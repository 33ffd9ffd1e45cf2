#include "loader/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace traceback::loader {

std::string systemReason(int error) { return std::generic_category().message(error); }

RegularFile::~RegularFile() {
  if (m_descriptor >= 0) ::close(m_descriptor);
}

model::Result<RegularFile> RegularFile::open(const std::filesystem::path& path) {
  RegularFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), 0);
  if (file.m_descriptor < 0) return model::fail("cannot open: " + systemReason(errno), path.string());
  struct stat status{};
  if (::fstat(file.m_descriptor, &status) != 0)
    return model::fail("cannot read: " + systemReason(errno), path.string());
  if (S_ISDIR(status.st_mode)) return model::fail("is a folder, not a file", path.string());
  if (!S_ISREG(status.st_mode)) return model::fail("not a regular file", path.string());
  file.m_size = static_cast<std::uint64_t>(status.st_size);
  return file;
}

std::ptrdiff_t RegularFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const auto got =
        ::pread(m_descriptor, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return static_cast<std::ptrdiff_t>(done);
}

}  // namespace traceback::loader
