#include "app/traceback/source_text.h"

#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <set>

#include "app/traceback/say.h"
#include "loader/mapped_file.h"
#include "model/utf8.h"

namespace traceback::app {

void addSourcePathOption(CLI::App& command, std::vector<std::string>& paths) {
  command.add_option("--source-path", paths, "Look for sources whose path begins with FROM under TO")
      ->type_name("FROM=TO");
}

std::optional<SourceText::Mapping> SourceText::parseMapping(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return std::nullopt;
  return Mapping{.from = std::string(text.substr(0, equals)), .to = std::string(text.substr(equals + 1))};
}

std::expected<std::vector<SourceText::Mapping>, std::string> SourceText::parseMappings(
    const std::vector<std::string>& texts) {
  std::vector<Mapping> mappings;
  for (const auto& text : texts) {
    auto mapping = parseMapping(text);
    if (!mapping) return std::unexpected("--source-path takes FROM=TO, not " + text);
    mappings.push_back(std::move(*mapping));
  }
  return mappings;
}

// Of several files the one that was compiled, if the checksums tell which that is.
const SourceText::File& SourceText::file(const model::SourceFile& source) {
  const auto [place, added] = m_files.try_emplace(&source);
  File& file = place->second;
  if (!added) return file;
  file.checked = !source.checksums.empty();
  for (const std::string& candidate : m_finder.findAll(source.path)) {
    const auto opened = loader::MappedFile::open(candidate, loader::MappedFile::Mode::Copy);
    if (!opened) continue;
    const bool same = file.checked && std::ranges::contains(source.checksums, model::md5(opened->bytes()),
                                                            &model::SourceFile::Checksum::md5);
    if (!file.path.empty() && !same) continue;
    file.path = candidate;
    file.same = same;
    file.lines.clear();
    std::string_view rest = opened->text();
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      file.lines.emplace_back(rest.substr(0, end));
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    if (same || !file.checked) break;
  }
  return file;
}

std::string SourceText::line(const model::SourceFile& source, std::uint32_t number) {
  const File& found = file(source);
  if (number == 0 || number > found.lines.size()) return {};
  std::string_view text = found.lines[number - 1];
  const auto start = text.find_first_not_of(" \t");
  const auto end = text.find_last_not_of(" \t\r");
  if (start == std::string_view::npos) return {};
  return model::printable(text.substr(start, end - start + 1));
}

void SourceText::complainAboutOthers(model::Nanoseconds made) const {
  std::set<std::string_view> told;  // two traces may have the same file
  for (const auto& [name, source] : m_files) {
    struct stat status{};
    if (source.path.empty() || source.same || told.contains(source.path)) continue;
    told.insert(source.path);
    if (source.checked) {
      tellLine("traceback: {}: not the source that was compiled: its checksum is another",
               model::printable(source.path));
      continue;
    }
    if (stat(source.path.c_str(), &status) != 0) continue;
    const auto modified = static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000 +
                          static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
    if (modified <= made.value) continue;
    tellLine("traceback: {}: changed after the trace was made: its text may not be what ran",
             model::printable(source.path));
  }
}

}  // namespace traceback::app
