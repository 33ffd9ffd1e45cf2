// The line table of a compilation unit as disjoint stretches of addresses.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "model/ids.h"

namespace traceback::loader {

// Paths, each kept once: views of them live as long as the table.
class PathTable {
 public:
  // Below the folder of the compilation, and without "." and "x/..": absolute if that folder is.
  std::string_view intern(const char* path, const char* compilationFolder);
  // Any text, as it is.
  std::string_view keep(std::string text) { return *m_paths.insert(std::move(text)).first; }

 private:
  std::unordered_set<std::string> m_paths;
};

struct LineRow {
  model::VirtAddr start, end;
  std::string_view file;
  std::uint32_t line = 0;
  bool isStatement = true;
};

// By address, without overlap. Of rows at one address the last counts, which is the one that has any extent
// (DWARF 5, 6.2.2). Empty if the unit has no line table.
std::vector<LineRow> readLines(Dwarf_Die* unit, PathTable& paths);

}  // namespace traceback::loader
