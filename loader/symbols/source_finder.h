// Where the source files that debug information names are on this machine.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <optional>

namespace traceback::loader {

// Immutable once set up; find() may be called from any thread. It looks at the file system each time: files
// come and go.
class SourceFinder {
 public:
  struct Mapping {
    std::string from, to;  // a path that begins with the folder `from` is looked for with `to` in its place
  };
  SourceFinder() = default;
  SourceFinder(std::vector<Mapping> mappings, std::vector<std::string> searchFolders)
      : m_mappings(std::move(mappings)), m_searchFolders(std::move(searchFolders)) {}

  // The path of a regular file, or nothing. In this order: mapped by the mapping with the longest `from`;
  // as it is; in each search folder the longest end of the path that is there ("src/lib/a.c", "lib/a.c",
  // "a.c").
  std::optional<std::string> find(const std::string& path) const;

 private:
  std::vector<Mapping> m_mappings;
  std::vector<std::string> m_searchFolders;
};

}  // namespace traceback::loader
