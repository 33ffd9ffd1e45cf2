// A file descriptor with an owner, and reading whole files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/error.h"

namespace traceback::collect {

using Bytes = std::vector<std::uint8_t>;

class SystemFile {
 public:
  SystemFile() = default;
  explicit SystemFile(int descriptor) : m_descriptor(descriptor) {}
  SystemFile(SystemFile&& other) noexcept : m_descriptor(std::exchange(other.m_descriptor, -1)) {}
  SystemFile& operator=(SystemFile&& other) noexcept {
    std::swap(m_descriptor, other.m_descriptor);
    return *this;
  }
  ~SystemFile();

  bool isOpen() const { return m_descriptor >= 0; }
  int descriptor() const { return m_descriptor; }
  int release() { return std::exchange(m_descriptor, -1); }

 private:
  int m_descriptor = -1;
};

// "FILE: what: reason", the reason being errno's.
std::unexpected<model::Error> failWithErrno(const std::string& what, const std::filesystem::path& file = {});

// The whole of a regular file or of one in /proc. Follows no link at the end of the path if told so.
model::Result<Bytes> readWhole(const std::filesystem::path& path, bool followLink = true);
// The whole of a regular file, of at most `most` bytes, in an opened folder: the last part of the path names
// it there, and is followed nowhere. Does not wait at a pipe's other end.
model::Result<Bytes> readRegular(int folder, const std::filesystem::path& path, std::uint64_t most);
std::string textOf(const Bytes& bytes);

}  // namespace traceback::collect
