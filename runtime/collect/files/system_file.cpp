#include "runtime/collect/files/system_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace traceback::collect {

SystemFile::~SystemFile() {
  if (m_descriptor >= 0) ::close(m_descriptor);
}

std::unexpected<model::Error> failWithErrno(const std::string& what, const std::filesystem::path& file) {
  return model::fail(what + ": " + std::generic_category().message(errno), file.string());
}

namespace {

model::Result<Bytes> readAll(const SystemFile& file, const std::filesystem::path& path, std::uint64_t most) {
  Bytes bytes;
  constexpr std::size_t kStep = 256 << 10;
  for (;;) {
    const std::size_t used = bytes.size();
    if (used > most) return model::fail("is too large", path.string(), most);
    bytes.resize(used + kStep);
    const ssize_t got = ::read(file.descriptor(), bytes.data() + used, kStep);
    bytes.resize(used + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got == 0) return bytes;
    if (got < 0 && errno != EINTR) return failWithErrno("cannot be read", path);
  }
}

}  // namespace

model::Result<Bytes> readWhole(const std::filesystem::path& path, bool followLink) {
  const SystemFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | (followLink ? 0 : O_NOFOLLOW)));
  if (!file.isOpen()) return failWithErrno("cannot be opened", path);
  return readAll(file, path, ~std::uint64_t{0});
}

model::Result<Bytes> readRegular(int folder, const std::filesystem::path& path, std::uint64_t most) {
  const SystemFile file(
      ::openat(folder, path.filename().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.isOpen()) return failWithErrno("cannot be opened", path);
  struct stat status{};
  if (::fstat(file.descriptor(), &status) != 0 || !S_ISREG(status.st_mode))
    return model::fail("is no regular file", path.string());
  return readAll(file, path, most);
}

std::string textOf(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace traceback::collect
