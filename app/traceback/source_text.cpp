#include "app/traceback/source_text.h"

#include <sys/stat.h>

#include <CLI/CLI.hpp>

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

const SourceText::File& SourceText::file(const std::string& path) {
  const auto [place, added] = m_files.try_emplace(path);
  File& file = place->second;
  if (!added) return file;

  std::vector<std::string> candidates;
  for (const auto& mapping : m_mappings) {
    if (path.starts_with(mapping.from)) candidates.push_back(mapping.to + path.substr(mapping.from.size()));
  }
  candidates.push_back(path);
  for (const auto& candidate : candidates) {
    const auto opened = loader::MappedFile::open(candidate, loader::MappedFile::Mode::Copy);
    if (!opened) continue;
    file.path = candidate;
    std::string_view rest(reinterpret_cast<const char*>(opened->bytes().data()), opened->bytes().size());
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      file.lines.emplace_back(rest.substr(0, end));
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    break;
  }
  return file;
}

std::string SourceText::line(const std::string& path, std::uint32_t number) {
  const File& source = file(path);
  if (number == 0 || number > source.lines.size()) return {};
  std::string_view text = source.lines[number - 1];
  const auto start = text.find_first_not_of(" \t");
  const auto end = text.find_last_not_of(" \t\r");
  if (start == std::string_view::npos) return {};
  return model::printable(text.substr(start, end - start + 1));
}

std::vector<std::string> SourceText::changedAfter(model::Nanoseconds when) const {
  std::vector<std::string> changed;
  for (const auto& [name, source] : m_files) {
    struct stat status{};
    if (source.path.empty() || stat(source.path.c_str(), &status) != 0) continue;
    const auto modified = static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000 +
                          static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
    if (modified > when.value) changed.push_back(source.path);
  }
  return changed;
}

}  // namespace traceback::app
