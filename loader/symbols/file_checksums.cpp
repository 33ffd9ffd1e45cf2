#include "loader/symbols/file_checksums.h"

#include <dwarf.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace traceback::loader {

namespace {

constexpr std::size_t kLongestPath = 4096;

// One entry of a table of folders or files.
struct Named {
  std::string_view name;
  std::uint64_t folder = 0;
  std::optional<model::Md5> md5;
};

class TableReader {
 public:
  TableReader(const LineSections& sections, std::uint64_t offset)
      : m_sections(sections), m_bytes(sections.lines, offset) {}

  std::vector<FileChecksum> read() {
    if (!readHeader()) return {};
    std::vector<Named> folders, files;
    if (!readNames(folders) || folders.empty() || !readNames(files)) return {};
    const std::string_view compiled = folders[0].name;
    std::vector<FileChecksum> sums;
    for (const Named& file : files) {
      if (!file.md5 || file.name.empty() || file.folder >= folders.size()) continue;
      const std::string_view folder = folders[static_cast<std::size_t>(file.folder)].name;
      if (file.name.size() + folder.size() + compiled.size() > kLongestPath) continue;
      FileChecksum sum;
      sum.folder = compiled;
      if (!file.name.starts_with('/') && file.folder != 0) {
        sum.path = folder;
        sum.path += '/';
      }
      sum.path += file.name;
      sum.md5 = *file.md5;
      sums.push_back(std::move(sum));
    }
    return sums;
  }

 private:
  using Format = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // what it is, and its form

  // Up to the table of folders.
  bool readHeader() {
    const auto length = m_bytes.read<std::uint32_t>();
    if (!length) return false;
    std::uint64_t size = *length;
    if (*length == 0xFFFF'FFFF) {
      const auto wide = m_bytes.read<std::uint64_t>();
      if (!wide) return false;
      m_wide = true;
      size = *wide;
    }
    const auto table = slice(m_sections.lines, m_bytes.offset(), size);
    if (!table) return false;
    m_bytes = ByteReader(*table);
    const auto version = m_bytes.read<std::uint16_t>();
    if (!version || *version != 5) return false;
    if (!m_bytes.read(2) || !offsetNumber()) return false;  // sizes of addresses; length of the header
    if (!m_bytes.read(5)) return false;                     // of instructions and lines
    const auto opcodes = m_bytes.read<std::uint8_t>();
    return opcodes && *opcodes > 0 && m_bytes.read(*opcodes - std::uint64_t{1});
  }

  bool readNames(std::vector<Named>& names) {
    Format format;
    const auto columns = m_bytes.read<std::uint8_t>();
    for (int i = 0; columns && i < *columns; ++i) {
      const auto what = unsignedNumber(), form = unsignedNumber();
      if (!what || !form) return false;
      format.emplace_back(*what, *form);
    }
    const auto count = unsignedNumber();
    // Each takes a byte at least, unless nothing is said of them at all.
    if (!columns || !count || *count > m_bytes.remaining() || (format.empty() && *count > 0)) return false;
    for (std::uint64_t i = 0; i < *count; ++i) {
      Named named;
      for (const auto& [what, form] : format)
        if (!readColumn(what, form, named)) return false;
      names.push_back(named);
    }
    return true;
  }

  bool readColumn(std::uint64_t what, std::uint64_t form, Named& named) {
    switch (form) {
      case DW_FORM_string:
        return take(what, m_bytes.readString(), named);
      case DW_FORM_line_strp:
        return take(what, stringOf(m_sections.lineStrings), named);
      case DW_FORM_strp:
        return take(what, stringOf(m_sections.strings), named);
      case DW_FORM_data16: {
        const auto bytes = m_bytes.read<model::Md5>();
        if (bytes && what == DW_LNCT_MD5) named.md5 = *bytes;
        return bytes.has_value();
      }
      case DW_FORM_udata:
        return take(what, unsignedNumber(), named);
      case DW_FORM_data1:
        return take(what, number<std::uint8_t>(), named);
      case DW_FORM_data2:
        return take(what, number<std::uint16_t>(), named);
      case DW_FORM_data4:
        return take(what, number<std::uint32_t>(), named);
      case DW_FORM_data8:
        return take(what, number<std::uint64_t>(), named);
      case DW_FORM_block: {
        const auto size = unsignedNumber();
        return size && m_bytes.read(*size);
      }
      default:
        return false;  // nothing tells how long it is
    }
  }

  static bool take(std::uint64_t what, std::optional<std::string_view> text, Named& named) {
    if (text && what == DW_LNCT_path) named.name = *text;
    return text.has_value();
  }
  static bool take(std::uint64_t what, std::optional<std::uint64_t> number, Named& named) {
    if (number && what == DW_LNCT_directory_index) named.folder = *number;
    return number.has_value();
  }

  template <typename T>
  std::optional<std::uint64_t> number() {
    return m_bytes.read<T>().transform([](T value) { return std::uint64_t{value}; });
  }
  // Of four bytes, or in the 64-bit format of eight.
  std::optional<std::uint64_t> offsetNumber() {
    return m_wide ? number<std::uint64_t>() : number<std::uint32_t>();
  }
  std::optional<std::string_view> stringOf(Bytes section) {
    const auto offset = offsetNumber();
    return offset ? stringAt(section, *offset) : std::nullopt;
  }
  // LEB128.
  std::optional<std::uint64_t> unsignedNumber() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = m_bytes.read<std::uint8_t>();
      if (!byte) return std::nullopt;
      value |= static_cast<std::uint64_t>(*byte & 0x7F) << shift;
      if ((*byte & 0x80) == 0) return value;
    }
    return std::nullopt;
  }

  const LineSections& m_sections;
  ByteReader m_bytes;
  bool m_wide = false;
};

}  // namespace

std::vector<FileChecksum> fileChecksums(const LineSections& sections, std::uint64_t offset) {
  return TableReader(sections, offset).read();
}

}  // namespace traceback::loader
