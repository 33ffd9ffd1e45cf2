#include "instrument/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <format>
#include <string>
#include <vector>

namespace traceback::instrument {

namespace fs = std::filesystem;
using model::Result;

namespace {

class OutputFile {
 public:
  explicit OutputFile(fs::path path) : m_path(std::move(path)) {}
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile() {
    if (m_descriptor >= 0) ::close(m_descriptor);
    if (!m_temporary.empty()) ::unlink(m_temporary.c_str());
  }

  Result<void> write(std::span<const std::byte> bytes) {
    std::string pattern = m_path.string() + ".XXXXXX";
    m_descriptor = ::mkostemp(pattern.data(), O_CLOEXEC);
    if (m_descriptor < 0) return error("cannot write here");
    m_temporary = pattern;
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t n = ::write(m_descriptor, bytes.data() + done, bytes.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return error("cannot write");
      done += std::size_t(n);
    }
    return {};
  }

  // Changing the owner may take away bits of the mode, and a write takes away capabilities: so in this order.
  Result<void> takeOwner(const struct stat& status) {
    struct stat own{};
    if (::fstat(m_descriptor, &own) != 0) return error("cannot be looked at");
    if (own.st_uid == status.st_uid && own.st_gid == status.st_gid) return {};
    if (::fchown(m_descriptor, status.st_uid, status.st_gid) != 0) return error("cannot keep its owner");
    return {};
  }
  Result<void> takeMode(const struct stat& status) {
    if (::fchmod(m_descriptor, status.st_mode & 07777) != 0) return error("cannot set its mode");
    return {};
  }
  Result<void> takeAttributes(const fs::path& model) {
    const ssize_t size = ::listxattr(model.c_str(), nullptr, 0);
    if (size <= 0)
      return size == 0 || errno == ENOTSUP ? Result<void>() : error("cannot read its attributes");
    std::vector<char> names(static_cast<std::size_t>(size));
    const ssize_t listed = ::listxattr(model.c_str(), names.data(), names.size());
    if (listed < 0) return error("cannot read its attributes");
    for (const char* name = names.data(); name < names.data() + listed; name += std::strlen(name) + 1) {
      std::vector<char> value(1 << 16);  // the most that Linux allows
      const ssize_t n = ::getxattr(model.c_str(), name, value.data(), value.size());
      if (n < 0) return error("cannot read its attributes");
      std::vector<char> present(value.size());
      const ssize_t has = ::fgetxattr(m_descriptor, name, present.data(), present.size());
      if (has == n && std::memcmp(present.data(), value.data(), std::size_t(n)) == 0)
        continue;  // labels, by default
      if (::fsetxattr(m_descriptor, name, value.data(), std::size_t(n), 0) != 0)
        return error("cannot keep its attributes");
    }
    return {};
  }

  Result<void> putInPlace() {
    const int descriptor = m_descriptor;
    m_descriptor = -1;
    if (::close(descriptor) != 0) return error("cannot write");
    if (::rename(m_temporary.c_str(), m_path.c_str()) != 0) return error("cannot put the new file in place");
    m_temporary.clear();
    return {};
  }

 private:
  std::unexpected<model::Error> error(const char* what) const {
    return model::fail(std::format("{}: {}", what, std::strerror(errno)), m_path.string());
  }

  fs::path m_path;
  std::string m_temporary;
  int m_descriptor = -1;
};

}  // namespace

Result<void> writeFile(const fs::path& path, std::span<const std::byte> bytes, const fs::path& model) {
  struct stat status{};
  if (::stat(model.c_str(), &status) != 0) return model::fail(std::strerror(errno), model.string());
  struct stat former{};
  if (::stat(path.c_str(), &former) == 0 && !S_ISREG(former.st_mode))
    return model::fail("is not a regular file: not replaced", path.string());
  OutputFile file(path);
  if (auto done = file.write(bytes); !done) return done;
  const bool inPlace = path == model;
  if (inPlace) {
    if (auto done = file.takeOwner(status); !done) return done;
  }
  if (auto done = file.takeMode(status); !done) return done;
  if (inPlace) {
    if (auto done = file.takeAttributes(model); !done) return done;
  }
  return file.putInPlace();
}

}  // namespace traceback::instrument
