#include "loader/mapped_file.h"

#include <sys/mman.h>

#include <cerrno>

#include "loader/regular_file.h"

namespace traceback::loader {

MappedFile::~MappedFile() {
  if (m_data != nullptr) ::munmap(m_data, m_size);
}

model::Result<MappedFile> MappedFile::open(const std::filesystem::path& path, Mode mode) {
  const auto file = RegularFile::open(path);
  if (!file) return std::unexpected(file.error());
  MappedFile result;
  result.m_path = path;
  const auto size = static_cast<std::size_t>(file->size());
  if (size == 0) return result;

  const bool copy = mode == Mode::Copy;
  void* data = copy ? ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                    : ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file->descriptor(), 0);
  if (data == MAP_FAILED) return model::fail("cannot map: " + systemReason(errno), path.string());
  result.m_data = static_cast<std::byte*>(data);
  result.m_size = size;
  // Where it shrank since, what is missing reads as zeros.
  if (copy && file->read(0, {result.m_data, size}) < 0)
    return model::fail("cannot read: " + systemReason(errno), path.string());
  return result;
}

}  // namespace traceback::loader
