// The text of /proc/PID/maps (proc(5)), as the section Mappings of a snap holds it:
//
//   START-END PERMISSIONS OFFSET DEVICE INODE      PATH        numbers hexadecimal, but for the inode
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace traceback::format {

struct Mapping {
  std::uint64_t start = 0, end = 0;
  std::uint64_t offset = 0;  // in the file
  bool readable = false, writable = false, executable = false, shared = false;
  std::string path;  // "" if anonymous; "[stack]", "[heap]", "[vdso]" and the like

  bool isFile() const { return path.starts_with('/'); }
};

inline std::optional<Mapping> parseMapping(std::string_view line) {
  const auto field = [&line] {
    const auto start = line.find_first_not_of(' ');
    if (start == std::string_view::npos) return std::string_view{};
    line.remove_prefix(start);
    const auto text = line.substr(0, line.find(' '));
    line.remove_prefix(text.size());
    return text;
  };
  const auto number = [](std::string_view text, std::uint64_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    return error == std::errc() && end == text.data() + text.size();
  };
  Mapping mapping;
  const auto range = field();
  const auto dash = range.find('-');
  if (dash == std::string_view::npos || !number(range.substr(0, dash), mapping.start) ||
      !number(range.substr(dash + 1), mapping.end) || mapping.end <= mapping.start)
    return std::nullopt;
  const auto permissions = field();
  if (permissions.size() != 4 || !number(field(), mapping.offset)) return std::nullopt;
  mapping.readable = permissions[0] == 'r';
  mapping.writable = permissions[1] == 'w';
  mapping.executable = permissions[2] == 'x';
  mapping.shared = permissions[3] == 's';
  field();  // device
  field();  // inode
  if (const auto path = line.find_first_not_of(' '); path != std::string_view::npos)
    mapping.path = line.substr(path);
  return mapping;
}

// What is no such line is left out.
inline std::vector<Mapping> parseMappings(std::string_view text) {
  std::vector<Mapping> mappings;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    if (auto mapping = parseMapping(line)) mappings.push_back(std::move(*mapping));
    text.remove_prefix(line.size() < text.size() ? line.size() + 1 : text.size());
  }
  return mappings;
}

// Whether what such a mapping shows is what its file holds: it cannot be written, and is not what the dynamic
// linker relocated and then protected (RELRO), which lies right before the rest of its segment.
inline bool isAsInFile(std::span<const Mapping> mappings, std::size_t index) {
  const Mapping& mapping = mappings[index];
  if (!mapping.isFile() || mapping.writable) return false;
  if (mapping.executable || index + 1 == mappings.size()) return true;
  const Mapping& next = mappings[index + 1];
  return !(next.writable && next.start == mapping.end && next.path == mapping.path);
}

}  // namespace traceback::format
