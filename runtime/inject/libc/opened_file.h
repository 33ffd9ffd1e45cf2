// Which file a program means by a path: not always the one that is there, where it runs as a copy or has
// copies of its libraries mapped.
#pragma once

#include "runtime/inject/kernel/system.h"

namespace traceback::inject {

// For as long as it takes to open the file.
class OpenedFile {
 public:
  // `reads`: it is opened for that alone.
  OpenedFile(const char* path, bool reads);
  ~OpenedFile() { close(); }
  OpenedFile(const OpenedFile&) = delete;
  OpenedFile& operator=(const OpenedFile&) = delete;

  const char* path() const { return m_path; }  // until it is closed
  bool isMade() const { return m_made >= 0; }
  void close();

 private:
  const char* m_path;
  long m_made = -1;  // a descriptor of it, where the file is made
  Text<40> m_link;
};

}  // namespace traceback::inject
