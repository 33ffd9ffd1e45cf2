#include "loader/symbols/source_finder.h"

#include <algorithm>
#include <filesystem>

namespace traceback::loader {

namespace fs = std::filesystem;

namespace {

bool isFile(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// What follows a leading folder; nothing if the path is not in it.
std::optional<std::string> below(const std::string& path, std::string folder) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  if (folder.empty() || !path.starts_with(folder)) return {};
  std::string rest = path.substr(folder.size());
  if (folder != "/" && !rest.starts_with('/')) return {};
  rest.erase(0, rest.find_first_not_of('/'));
  return rest;
}

}  // namespace

std::optional<std::string> SourceFinder::find(const std::string& path) const {
  if (path.empty()) return {};
  std::vector<const Mapping*> byLength;
  for (const Mapping& mapping : m_mappings) byLength.push_back(&mapping);
  std::ranges::stable_sort(byLength, std::ranges::greater(),
                           [](const Mapping* mapping) { return mapping->from.size(); });
  for (const Mapping* mapping : byLength) {
    const auto rest = below(path, mapping->from);
    if (!rest || rest->empty()) continue;
    const fs::path candidate = fs::path(mapping->to) / *rest;
    if (isFile(candidate)) return candidate.string();
  }
  if (path[0] == '/' && isFile(path)) return path;
  const fs::path relative = fs::path(path).lexically_normal().relative_path();
  for (const std::string& folder : m_searchFolders) {
    for (auto from = relative.begin(); from != relative.end(); ++from) {
      fs::path end;
      for (auto part = from; part != relative.end(); ++part) end /= *part;
      if (*from == "..") continue;
      if (isFile(fs::path(folder) / end)) return (fs::path(folder) / end).string();
    }
  }
  return {};
}

}  // namespace traceback::loader
