// A file that a command writes.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

namespace traceback::app {

// Into a new file beside it that then takes its name, so that nobody sees half of it.
class OutputFile {
 public:
  explicit OutputFile(const std::string& name) : m_name(name), m_temporary(name + ".part") {
    m_file = std::fopen(m_temporary.c_str(), "wbe");
    if (m_file == nullptr) m_error = errno;
  }
  ~OutputFile() {
    if (m_file != nullptr) std::fclose(m_file);
    if (!m_kept) std::remove(m_temporary.c_str());
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  bool write(std::string_view text) { return write(std::as_bytes(std::span(text))); }
  bool write(std::span<const std::byte> bytes) {
    if (m_error == 0 && std::fwrite(bytes.data(), 1, bytes.size(), m_file) != bytes.size()) m_error = errno;
    return m_error == 0;
  }
  bool keep() {
    if (m_error == 0 && std::fflush(m_file) != 0) m_error = errno;
    if (m_error == 0 && std::rename(m_temporary.c_str(), m_name.c_str()) != 0) m_error = errno;
    return m_kept = m_error == 0;
  }
  int error() const { return m_error; }

 private:
  std::string m_name, m_temporary;
  std::FILE* m_file;
  int m_error = 0;
  bool m_kept = false;
};

// One line on standard error; gives the status to end with.
int cannotWrite(const std::string& file, int error);

}  // namespace traceback::app
