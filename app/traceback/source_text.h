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

#include "loader/symbols/source_finder.h"
#include "model/export/text_rows.h"
#include "model/ids.h"
#include "model/source_file.h"

namespace CLI {
class App;
}

namespace traceback::app {

// --source-path FROM=TO, any number of times.
void addSourcePathOption(CLI::App& command, std::vector<std::string>& paths);

class SourceText {
 public:
  using Mapping = loader::SourceFinder::Mapping;
  explicit SourceText(std::vector<Mapping> mappings) : m_finder(std::move(mappings), {}) {}

  // "FROM=TO"; nothing if it is not that.
  static std::optional<Mapping> parseMapping(std::string_view text);
  // The values of --source-path; or what is wrong with them.
  static std::expected<std::vector<Mapping>, std::string> parseMappings(
      const std::vector<std::string>& texts);

  // The line without what it is indented by, fit for a terminal; empty if it is not known.
  std::string line(const model::SourceFile& source, std::uint32_t number);

  // The same as a function, for what this outlives.
  model::SourceLine lines() {
    return [this](const model::SourceFile& source, std::uint32_t number) { return line(source, number); };
  }

  // Says on standard error which of the files that lines were taken from are not, or may not be, those that
  // were compiled: by their checksums, or, without any, because they were changed after the trace was made.
  void complainAboutOthers(model::Nanoseconds made) const;

 private:
  struct File {
    std::string path;  // where it was found; empty if nowhere
    std::vector<std::string> lines;
    bool checked = false;  // the debug information has a checksum of it
    bool same = false;  // and this file has that
  };
  const File& file(const model::SourceFile& source);

  loader::SourceFinder m_finder;
  std::map<const model::SourceFile*, File> m_files;  // of traces that outlive this
};

}  // namespace traceback::app
