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

std::optional<std::string> SourceFinder::mapped(const Mapping& mapping, const std::string& path) {
  const auto rest = below(path, mapping.from);
  if (!rest || rest->empty()) return {};
  return (fs::path(mapping.to) / *rest).string();
}

std::vector<std::string> SourceFinder::findAll(const std::string& path) const {
  std::vector<std::string> found;
  if (path.empty()) return found;
  const auto add = [&found](const fs::path& candidate) {
    if (!isFile(candidate)) return false;
    if (std::ranges::find(found, candidate.string()) == found.end()) found.push_back(candidate.string());
    return true;
  };
  for (const Mapping& mapping : m_mappings) {
    if (const auto candidate = mapped(mapping, path)) add(*candidate);
  }
  if (path[0] == '/') add(path);
  const fs::path relative = fs::path(path).lexically_normal().relative_path();
  for (const std::string& folder : m_searchFolders) {
    for (auto from = relative.begin(); from != relative.end(); ++from) {
      fs::path end;
      for (auto part = from; part != relative.end(); ++part) end /= *part;
      if (*from != ".." && add(fs::path(folder) / end)) break;
    }
  }
  return found;
}

std::optional<std::string> SourceFinder::find(const std::string& path) const {
  const auto found = findAll(path);
  return found.empty() ? std::nullopt : std::optional(found.front());
}

}  // namespace traceback::loader
