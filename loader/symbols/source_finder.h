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

  // All regular files that the path may stand for, best first: as mapped by each mapping, in their order; as
  // it is; in each search folder the longest end of the path that is there ("src/lib/a.c", "lib/a.c", "a.c").
  std::vector<std::string> findAll(const std::string& path) const;
  // The first of them.
  std::optional<std::string> find(const std::string& path) const;

  // Where a mapping leads for a path; nothing if the path is not in its folder.
  static std::optional<std::string> mapped(const Mapping& mapping, const std::string& path);

 private:
  std::vector<Mapping> m_mappings;
  std::vector<std::string> m_searchFolders;
};

}  // namespace traceback::loader
