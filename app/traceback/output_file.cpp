#include "app/traceback/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <format>

#include "app/traceback/command.h"

namespace traceback::app {

namespace fs = std::filesystem;

namespace {

constexpr int kMostLinks = 40;  // as the kernel follows
constexpr int kMostNames = 100;

// Where links lead, if only to a name that there is not yet.
std::string followed(fs::path path) {
  for (int i = 0; i < kMostLinks; ++i) {
    std::error_code none;
    const fs::path target = fs::read_symlink(path, none);
    if (none) break;
    path = path.parent_path() / target;
  }
  return path.string();
}

}  // namespace

OutputFile::OutputFile(const std::string& name, mode_t mode) : m_name(name) {
  struct stat status{};
  const bool exists = ::stat(name.c_str(), &status) == 0;
  int descriptor = -1;
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor = ::open(name.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    m_name = followed(name);
    if (exists && ::access(m_name.c_str(), W_OK) != 0) {
      m_error = errno;
      return;
    }
    // What already has such a name is somebody's.
    errno = EEXIST;
    for (int i = 0; i < kMostNames && descriptor < 0 && errno == EEXIST; ++i) {
      const std::string beside = i == 0 ? m_name + ".part" : std::format("{}.part{}", m_name, i);
      descriptor = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
      if (descriptor >= 0) m_temporary = beside;
    }
    if (descriptor >= 0 && exists) {
      // Only root can give files away; else it is the caller's from now on.
      [[maybe_unused]] const int given = ::fchown(descriptor, status.st_uid, status.st_gid);
      if (::fchmod(descriptor, status.st_mode & 07777) != 0) m_error = errno;
    }
  }
  if (descriptor >= 0) m_file = ::fdopen(descriptor, "wb");
  if (m_file == nullptr && m_error == 0) m_error = errno;
}

OutputFile::~OutputFile() {
  if (m_file != nullptr) std::fclose(m_file);
  if (!m_temporary.empty()) std::remove(m_temporary.c_str());
}

bool OutputFile::write(std::span<const std::byte> bytes) {
  if (m_error == 0 && std::fwrite(bytes.data(), 1, bytes.size(), m_file) != bytes.size()) m_error = errno;
  return m_error == 0;
}

bool OutputFile::keep() {
  if (m_error == 0 && std::fflush(m_file) != 0) m_error = errno;
  if (m_error == 0 && !m_temporary.empty()) {
    if (std::rename(m_temporary.c_str(), m_name.c_str()) == 0)
      m_temporary.clear();
    else
      m_error = errno;
  }
  return m_error == 0;
}

int refuseToReplace(const std::string& input, const std::string& file) {
  std::error_code none;
  if (!fs::equivalent(input, file, none)) return kDone;
  return complain({.message = "would be overwritten by what is made of it: name another output",
                   .file = input,
                   .offset = {}});
}

int cannotWrite(const std::string& file, int error) {
  return complain(
      {.message = std::format("cannot write: {}", std::strerror(error)), .file = file, .offset = {}});
}

}  // namespace traceback::app
