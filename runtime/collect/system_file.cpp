#include "runtime/collect/system_file.h"

#include <fcntl.h>
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

model::Result<Bytes> readWhole(const std::filesystem::path& path, bool followLink) {
  const SystemFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | (followLink ? 0 : O_NOFOLLOW)));
  if (!file.isOpen()) return failWithErrno("cannot be opened", path);
  Bytes bytes;
  constexpr std::size_t kStep = 256 << 10;
  for (;;) {
    const std::size_t used = bytes.size();
    bytes.resize(used + kStep);
    const ssize_t got = ::read(file.descriptor(), bytes.data() + used, kStep);
    bytes.resize(used + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got == 0) return bytes;
    if (got < 0 && errno != EINTR) return failWithErrno("cannot be read", path);
  }
}

std::string textOf(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace traceback::collect
