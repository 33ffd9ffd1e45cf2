#include "loader/symbols/dwarf_lines.h"

#include <dwarf.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

namespace traceback::loader {

std::string_view PathTable::intern(const char* path, const char* compilationFolder) {
  if (!path || !*path) return {};
  std::string full = path;
  if (full[0] != '/' && compilationFolder && *compilationFolder) {
    // libdw has put an absolute folder before it, and a relative one (of builds that hide where they were
    // made) only before the files that are directly in it.
    const std::string folder = std::string(compilationFolder) + '/';
    if (!full.starts_with(folder)) full = folder + full;
  }
  if (full.contains("./") || full.contains("//")) {
    full = std::filesystem::path(full).lexically_normal().string();
  }
  return *m_paths.insert(std::move(full)).first;
}

std::vector<LineRow> readLines(Dwarf_Die* unit, PathTable& paths) {
  std::vector<LineRow> rows;
  Dwarf_Lines* lines = nullptr;
  std::size_t count = 0;
  if (dwarf_getsrclines(unit, &lines, &count) != 0) return rows;
  Dwarf_Attribute attribute;
  const char* folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
  // libdw hands out one pointer for each file of the table.
  std::unordered_map<const char*, std::string_view> known;
  rows.reserve(count);
  for (std::size_t i = 0; i + 1 < count; ++i) {
    Dwarf_Line* line = dwarf_onesrcline(lines, i);
    Dwarf_Line* next = dwarf_onesrcline(lines, i + 1);
    bool ends = false, statement = true;
    Dwarf_Addr start = 0, end = 0;
    int number = 0;
    if (!line || !next || dwarf_lineendsequence(line, &ends) != 0 || ends) continue;
    if (dwarf_lineaddr(line, &start) != 0 || dwarf_lineaddr(next, &end) != 0 || end <= start) continue;
    if (dwarf_lineno(line, &number) != 0 || number < 0) number = 0;
    if (dwarf_linebeginstatement(line, &statement) != 0) statement = true;
    const char* path = dwarf_linesrc(line, nullptr, nullptr);
    const auto [file, isNew] = known.try_emplace(path);
    if (isNew) file->second = paths.intern(path, folder);
    rows.push_back({{start}, {end}, file->second, static_cast<std::uint32_t>(number), statement});
  }
  // libdw sorts by address; only what it did not would overlap.
  std::ranges::stable_sort(rows, {}, &LineRow::start);
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) rows[i].end = std::min(rows[i].end, rows[i + 1].start);
  std::erase_if(rows, [](const LineRow& row) { return row.end <= row.start; });
  return rows;
}

}  // namespace traceback::loader
