#include "loader/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace traceback::loader {

namespace {

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

std::string reason(int error) { return std::generic_category().message(error); }

}  // namespace

MappedFile::~MappedFile() {
  if (m_data != nullptr) ::munmap(m_data, m_size);
}

model::Result<MappedFile> MappedFile::open(const std::filesystem::path& path, Mode mode) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  if (file.number < 0) return model::fail("cannot open: " + reason(errno), path.string());
  struct stat status{};
  if (::fstat(file.number, &status) != 0) return model::fail("cannot read: " + reason(errno), path.string());
  if (S_ISDIR(status.st_mode)) return model::fail("is a folder, not a file", path.string());
  if (!S_ISREG(status.st_mode)) return model::fail("not a regular file", path.string());

  MappedFile result;
  result.m_path = path;
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return result;

  const bool copy = mode == Mode::Copy;
  void* data = copy ? ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                    : ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (data == MAP_FAILED) return model::fail("cannot map: " + reason(errno), path.string());
  result.m_data = static_cast<std::byte*>(data);
  result.m_size = size;
  if (!copy) return result;

  std::size_t done = 0;
  while (done < size) {
    const auto got = ::pread(file.number, result.m_data + done, size - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return model::fail("cannot read: " + reason(errno), path.string(), done);
    if (got == 0) break;  // it shrank since: what is missing reads as zeros
    done += static_cast<std::size_t>(got);
  }
  return result;
}

}  // namespace traceback::loader
