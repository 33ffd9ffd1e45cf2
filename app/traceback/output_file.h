// A file that a command writes.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

namespace traceback::app {

// Into a new file beside it that then takes its name and has its mode, so that nobody sees half of it. Where
// the name is a link's, it is the file that this leads to; a device, a pipe or a descriptor (/dev/fd/1) is
// written as it is.
class OutputFile {
 public:
  // `mode` is a new file's, less what the process masks.
  explicit OutputFile(const std::string& name, mode_t mode = 0666);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  bool write(std::string_view text) { return write(std::as_bytes(std::span(text))); }
  bool write(std::span<const std::byte> bytes);
  bool keep();
  int error() const { return m_error; }  // errno of what failed first; 0: nothing

 private:
  std::string m_name,
      m_temporary;  // no temporary one: what is written is the file itself, or its new one is in place
  std::FILE* m_file = nullptr;
  int m_error = 0;
};

// One line on standard error if what is written to `file` would take the place of the input; gives the status
// to end with.
int refuseToReplace(const std::string& input, const std::string& file);

// One line on standard error; gives the status to end with.
int cannotWrite(const std::string& file, int error);

}  // namespace traceback::app
