#include "loader/symbols/code_lines.h"

#include <dwarf.h>

#include <algorithm>
#include <set>

#include "loader/symbols/debug_files.h"
#include "loader/symbols/debuginfod.h"
#include "loader/symbols/dwarf_lines.h"

namespace traceback::loader {

namespace {

// A name that the file's path ends with is in the unit's table: most units do not have to be read further.
bool names(Dwarf_Die* unit, const std::string& file) {
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_getsrcfiles(unit, &files, &count) != 0) return false;
  const std::string_view wanted = std::string_view(file).substr(file.rfind('/') + 1);
  for (std::size_t i = 0; i < count; ++i) {
    const char* path = dwarf_filesrc(files, i, nullptr, nullptr);
    if (path && std::string_view(path).ends_with(wanted)) return true;
  }
  return false;
}

}  // namespace

std::optional<std::vector<std::uint32_t>> linesWithCode(const ModuleFiles& module, const std::string& file,
                                                        const std::stop_token& stop) {
  Debuginfod debuginfod([stop](std::uint64_t, std::uint64_t) { return !stop.stop_requested(); });
  ModuleFiles files = module;
  files.debuginfod = &debuginfod;
  DebugFiles found = findDebugFiles(files);
  for (ObjectFile& object : found.files) {
    Dwarf* dwarf = object.has(".debug_info") ? object.dwarf() : nullptr;
    if (!dwarf) continue;
    std::set<std::uint32_t> lines;
    PathTable paths;
    Dwarf_CU* cu = nullptr;
    Dwarf_Die unit;
    std::uint8_t type = 0;
    while (dwarf_get_units(dwarf, cu, &cu, nullptr, &type, &unit, nullptr) == 0) {
      if (stop.stop_requested()) return {};
      if ((type != DW_UT_compile && type != DW_UT_skeleton) || !names(&unit, file)) continue;
      for (const LineRow& row : readLines(&unit, paths))
        if (row.isStatement && row.line != 0 && row.file == file) lines.insert(row.line);
    }
    if (lines.empty()) return {};
    return std::vector<std::uint32_t>(lines.begin(), lines.end());
  }
  return {};
}

}  // namespace traceback::loader
