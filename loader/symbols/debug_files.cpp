#include "loader/symbols/debug_files.h"

#include <algorithm>
#include <filesystem>
#include <format>

#include "loader/symbols/debuginfod.h"

namespace traceback::loader {

namespace fs = std::filesystem;

namespace {

constexpr const char* kSystemDebug = "/usr/lib/debug";

// ".build-id/xx/rest.debug" without the first part; empty if the id is too short to be one.
std::string buildIdFile(const std::string& buildId) {
  const bool hex =
      std::ranges::all_of(buildId, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  return hex && buildId.size() > 2 ? buildId.substr(0, 2) + '/' + buildId.substr(2) + ".debug"
                                   : std::string();
}

bool fileExists(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

class Search {
 public:
  explicit Search(const ModuleFiles& module) : m_module(module) {}

  DebugFiles run() {
    for (const std::string& named : m_module.debugPaths) {
      std::error_code error;
      if (!fs::is_directory(named, error)) {
        take(named, true);
      } else {
        for (const fs::path& path : inFolder(named)) take(path, false);
      }
    }
    take(m_module.path, false);
    if (m_module.loadedPath != m_module.path) take(m_module.loadedPath, false);
    const std::string byId = buildIdFile(m_module.buildId);
    if (!byId.empty()) take(fs::path(kSystemDebug) / ".build-id" / byId, false);
    followLinks();
    if (!m_haveLines && !m_module.buildId.empty() && m_module.debuginfod != nullptr && Debuginfod::wanted()) {
      if (const auto path = m_module.debuginfod->debugInformation(m_module.buildId)) {
        take(*path, true);
      } else {
        m_found.notes.push_back(path.error().text());
      }
    }
    // Those with lines first; the rest may still have names.
    std::ranges::stable_partition(m_found.files, [](const ObjectFile& file) { return hasLines(file); });
    return std::move(m_found);
  }

 private:
  static bool hasLines(const ObjectFile& file) { return file.has(".debug_line") && file.has(".debug_info"); }

  std::vector<fs::path> inFolder(const fs::path& folder) const {
    std::vector<fs::path> paths;
    if (const std::string byId = buildIdFile(m_module.buildId); !byId.empty()) {
      paths.push_back(folder / ".build-id" / byId);
      paths.push_back(folder / byId);
    }
    const fs::path original = m_module.path;
    for (const fs::path& name : {original.filename(), original.relative_path()}) {
      if (name.empty()) continue;
      paths.push_back(folder / (name.string() + ".debug"));
      paths.push_back(folder / name);
    }
    return paths;
  }

  // Uses the file if it belongs to the module. Whether a file is there at all is only of interest if the user
  // named it.
  void take(const fs::path& path, bool named) {
    if (m_haveLines || path.empty()) return;
    if (!fileExists(path)) {
      if (named) m_found.notes.push_back(std::format("{}: there is no such file", path.string()));
      return;
    }
    const bool seen = std::ranges::any_of(m_tried, [&](const fs::path& tried) { return tried == path; });
    if (seen) return;
    m_tried.push_back(path);
    auto file = ObjectFile::open(path.string());
    if (!file) {
      m_found.notes.push_back(file.error().text());
      return;
    }
    if (file->buildId() != m_module.buildId) {
      m_found.notes.push_back(std::format("{}: not used, for its build id is {}, not {}", path.string(),
                                          file->buildId().empty() ? "missing" : file->buildId(),
                                          m_module.buildId.empty() ? "missing" : m_module.buildId));
      return;
    }
    if (m_module.buildId.empty()) {
      m_found.notes.push_back(std::format("{}: has no build id; it may have changed since", path.string()));
    }
    add(std::move(*file));
  }

  void add(ObjectFile file) {
    m_haveLines = m_haveLines || hasLines(file);
    m_found.files.push_back(std::move(file));
  }

  void followLinks() {
    if (m_haveLines) return;
    const std::size_t count = m_found.files.size();
    for (std::size_t i = 0; i < count && !m_haveLines; ++i) {
      const auto link = m_found.files[i].debugLink();
      // A name, not a path: what goes elsewhere is not ours to follow.
      if (!link || link->name.contains('/')) continue;
      const fs::path folder = fs::absolute(m_found.files[i].path()).parent_path();
      for (const fs::path& path : {folder / link->name, folder / ".debug" / link->name,
                                   fs::path(kSystemDebug) / folder.relative_path() / link->name}) {
        if (m_haveLines || !fileExists(path)) continue;
        if (m_module.buildId.empty()) {
          takeByCrc(path, link->crc);
        } else {
          take(path, false);
        }
      }
    }
  }

  void takeByCrc(const fs::path& path, std::uint32_t crc) {
    auto file = ObjectFile::open(path.string());
    if (!file) {
      m_found.notes.push_back(file.error().text());
    } else if (file->crc() != crc) {
      m_found.notes.push_back(
          std::format("{}: not used, for it is not the file that was linked to", path.string()));
    } else {
      add(std::move(*file));
    }
  }

  const ModuleFiles& m_module;
  DebugFiles m_found;
  std::vector<fs::path> m_tried;
  bool m_haveLines = false;
};

}  // namespace

DebugFiles findDebugFiles(const ModuleFiles& module) { return Search(module).run(); }

}  // namespace traceback::loader
