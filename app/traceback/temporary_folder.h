// A folder of its own for a while, where TMPDIR says, with all that comes to be in it.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <format>
#include <string>
#include <system_error>
#include <utility>

#include "model/error.h"

namespace traceback::app {

class TemporaryFolder {
 public:
  static model::Result<TemporaryFolder> make(const std::string& prefix) {
    std::error_code error;
    std::string name = (std::filesystem::temp_directory_path(error) / (prefix + "XXXXXX")).string();
    if (error || mkdtemp(name.data()) == nullptr)
      return model::fail(
          std::format("cannot make a temporary folder: {}", error ? error.message() : std::strerror(errno)),
          name);
    return TemporaryFolder(name);
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : m_path(std::exchange(other.m_path, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code error;
    if (!m_path.empty()) std::filesystem::remove_all(m_path, error);
  }

  const std::filesystem::path& path() const { return m_path; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : m_path(std::move(path)) {}
  std::filesystem::path m_path;
};

}  // namespace traceback::app
