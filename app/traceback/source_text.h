// Lines of source files, to print beside the trace. Where a file is not found, there are none.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/export/text_rows.h"
#include "model/ids.h"

namespace CLI {
class App;
}

namespace traceback::app {

// --source-path FROM=TO, any number of times.
void addSourcePathOption(CLI::App& command, std::vector<std::string>& paths);

class SourceText {
 public:
  // Paths that begin with `from` are looked for under `to` first.
  struct Mapping {
    std::string from;
    std::string to;
  };
  explicit SourceText(std::vector<Mapping> mappings) : m_mappings(std::move(mappings)) {}

  // "FROM=TO"; nothing if it is not that.
  static std::optional<Mapping> parseMapping(std::string_view text);
  // The values of --source-path; or what is wrong with them.
  static std::expected<std::vector<Mapping>, std::string> parseMappings(
      const std::vector<std::string>& texts);

  // The line without what it is indented by, fit for a terminal; empty if it is not known.
  std::string line(const std::string& path, std::uint32_t number);

  // The same as a function, for what this outlives.
  model::SourceLine lines() {
    return
        [this](const model::SourceFile& source, std::uint32_t number) { return line(source.path, number); };
  }

  // Files found that were changed after `when`: what they say may not be what ran.
  std::vector<std::string> changedAfter(model::Nanoseconds when) const;

 private:
  struct File {
    std::string path;  // where it was found; empty if nowhere
    std::vector<std::string> lines;
  };
  const File& file(const std::string& path);

  std::vector<Mapping> m_mappings;
  std::map<std::string, File> m_files;
};

}  // namespace traceback::app
