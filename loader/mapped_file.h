// A file's bytes, read-only. The only input the loader does; all else works on spans.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

#include "loader/byte_reader.h"
#include "model/error.h"

namespace traceback::loader {

// Maps a regular file privately. The span lives as long as the object and keeps its address when the
// object is moved. An empty file gives an empty span. What is not a regular file (a folder, a device)
// or cannot be read gives an error that names the file and the system's reason.
//
// A mapped file that somebody truncates meanwhile would fault on access. Files that may change under us
// (rings of live processes) are therefore read with Mode::Copy, which reads them into memory.
class MappedFile {
 public:
  enum class Mode { Map, Copy };
  static model::Result<MappedFile> open(const std::filesystem::path& path, Mode mode = Mode::Map);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept { swap(other); }
  MappedFile& operator=(MappedFile&& other) noexcept {
    MappedFile taken(std::move(other));
    swap(taken);
    return *this;
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  Bytes bytes() const { return {m_data, m_size}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(m_data), m_size}; }
  const std::filesystem::path& path() const { return m_path; }

 private:
  void swap(MappedFile& other) noexcept {
    std::swap(m_data, other.m_data);
    std::swap(m_size, other.m_size);
    std::swap(m_path, other.m_path);
  }

  std::byte* m_data = nullptr;
  std::size_t m_size = 0;
  std::filesystem::path m_path;
};

}  // namespace traceback::loader
