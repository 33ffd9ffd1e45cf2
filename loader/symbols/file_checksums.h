// The checksums of source files that a line table holds: DW_LNCT_MD5 of DWARF 5 (section 6.2.4.1). Clang
// writes them, GCC does not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "loader/byte_reader.h"
#include "model/md5.h"

namespace traceback::loader {

// Uncompressed; empty if there is no such section.
struct LineSections {
  Bytes lines;        // .debug_line
  Bytes lineStrings;  // .debug_line_str
  Bytes strings;      // .debug_str
};

struct FileChecksum {
  std::string path;    // as the table has it: absolute, or below `folder`
  std::string folder;  // of the compilation
  model::Md5 md5{};
};

// Of the files of the line table at an offset in .debug_line. Empty for tables of other versions, without
// checksums, or damaged ones; a path too long to be one is left out.
std::vector<FileChecksum> fileChecksums(const LineSections& sections, std::uint64_t offset);

}  // namespace traceback::loader
