#include "app/viewer/source_reach.h"

#include <filesystem>

#include "loader/symbols/source_finder.h"

namespace traceback::app {
namespace {

constexpr qsizetype kMostMissing = 10;

bool isFile(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

}  // namespace

SourceReach sourceReach(const QList<SourceMapping>& mappings, const model::Trace& trace,
                        const std::stop_token& stop) {
  SourceReach reach;
  reach.folders.resize(static_cast<std::size_t>(mappings.size()));
  std::vector<loader::SourceFinder::Mapping> known;
  for (const SourceMapping& mapping : mappings) {
    known.push_back({mapping.from.toStdString(), mapping.to.toStdString()});
    std::error_code error;
    reach.folders[known.size() - 1].exists = std::filesystem::is_directory(known.back().to, error);
  }
  for (const model::SourceFile& file : trace.files) {
    if (stop.stop_requested()) break;
    ++reach.files;
    bool found = false;
    for (std::size_t i = 0; i < known.size(); ++i) {
      const auto path = loader::SourceFinder::mapped(known[i], file.path);
      if (!path) continue;
      SourceReach::Folder& folder = reach.folders[i];
      ++folder.files;
      if (isFile(*path)) {
        ++folder.found;
        if (!found) ++folder.first;
        found = true;
      } else if (folder.missing.size() < kMostMissing) {
        folder.missing.append(QString::fromStdString(file.path));
      }
    }
    if (found || (file.path.starts_with('/') && isFile(file.path))) ++reach.found;
  }
  return reach;
}

}  // namespace traceback::app
