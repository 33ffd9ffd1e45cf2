// A regular file, open for reading.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include "model/error.h"

namespace traceback::loader {

class RegularFile {
 public:
  // What is not a regular file (a folder, a device) or cannot be read gives an error that names the file and
  // the system's reason.
  static model::Result<RegularFile> open(const std::filesystem::path& path);

  RegularFile(RegularFile&& other) noexcept
      : m_descriptor(std::exchange(other.m_descriptor, -1)), m_size(other.m_size) {}
  RegularFile& operator=(RegularFile&& other) noexcept {
    std::swap(m_descriptor, other.m_descriptor);
    std::swap(m_size, other.m_size);
    return *this;
  }
  ~RegularFile();

  int descriptor() const { return m_descriptor; }
  std::uint64_t size() const { return m_size; }  // as it was when it was opened
  // How much of `out` could be read from `offset` on: less than all if the file ends before. -1: errno.
  std::ptrdiff_t read(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  RegularFile(int descriptor, std::uint64_t size) : m_descriptor(descriptor), m_size(size) {}

  int m_descriptor = -1;
  std::uint64_t m_size = 0;
};

// The system's words for an errno.
std::string systemReason(int error);

}  // namespace traceback::loader
