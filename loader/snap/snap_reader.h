// Reads the sections of a snap (runtime/format/snap.h) on demand.
//
// open() fails, with the offset, on what makes the file unreadable as a whole: its header or its section
// table. A section that is cut, has a wrong CRC or does not inflate to its size is an error of read() alone;
// callers note it and go on. The bytes must outlive the reader. Immutable, so usable from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "loader/byte_reader.h"
#include "model/error.h"
#include "runtime/format/snap.h"

namespace traceback::loader {

// No section may claim to inflate to more.
inline constexpr std::uint64_t kMaxSectionSize = std::uint64_t{1} << 31;

class SnapReader {
 public:
  static model::Result<SnapReader> open(Bytes bytes, std::string origin);

  const std::vector<format::SectionEntry>& sections() const { return m_sections; }
  // The first of a type and index, or null.
  const format::SectionEntry* find(format::SectionType type, std::uint32_t index = 0) const;
  std::vector<const format::SectionEntry*> all(format::SectionType type) const;  // by index

  // The section's bytes, inflated.
  model::Result<std::vector<std::byte>> read(const format::SectionEntry& section) const;

 private:
  SnapReader(Bytes bytes, std::string origin) : m_bytes(bytes), m_origin(std::move(origin)) {}

  Bytes m_bytes;
  std::string m_origin;
  std::vector<format::SectionEntry> m_sections;
};

// For messages: "modules", "ring 3".
std::string sectionText(const format::SectionEntry& section);

}  // namespace traceback::loader
