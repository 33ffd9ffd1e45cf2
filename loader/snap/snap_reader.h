// Reads the sections of a snap (runtime/format/snap.h) on demand.
//
// open() fails, with the offset, on what makes the file unreadable as a whole: its header or its section
// table. A section that is cut, has a wrong CRC or does not inflate to its size is an error of read() alone;
// callers note it and go on. Immutable, so usable from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loader/byte_source.h"
#include "model/error.h"
#include "runtime/format/snap.h"

namespace traceback::loader {

// No section may claim to inflate to more; of most types, far less (snap_reader.cpp).
inline constexpr std::uint64_t kMaxSectionSize = std::uint64_t{1} << 31;

class SnapReader {
 public:
  static model::Result<SnapReader> open(std::shared_ptr<const ByteSource> bytes, std::string origin);
  static model::Result<SnapReader> openFile(const std::filesystem::path& file);

  std::uint32_t revision() const { return m_revision; }  // may be later than kSnapRevision
  const std::vector<format::SectionEntry>& sections() const { return m_sections; }
  // The first of a type and index, or null.
  const format::SectionEntry* find(format::SectionType type, std::uint32_t index = 0) const;
  std::vector<const format::SectionEntry*> all(format::SectionType type) const;  // by index

  // The section's bytes, inflated.
  model::Result<std::vector<std::byte>> read(const format::SectionEntry& section) const;
  // The same, read a part at a time. A block that cannot be had fails the reads that need it, not this.
  model::Result<std::shared_ptr<const ByteSource>> openSection(const format::SectionEntry& section) const;

 private:
  SnapReader(std::shared_ptr<const ByteSource> bytes, std::string origin)
      : m_bytes(std::move(bytes)), m_origin(std::move(origin)) {}
  model::Result<std::vector<std::byte>> readWhole(const format::SectionEntry& section) const;
  // Of the table's entry: then nothing of the section can be read.
  std::optional<model::Error> problemOf(const format::SectionEntry& section) const;
  model::Error error(const format::SectionEntry& section, std::string_view what) const;

  std::shared_ptr<const ByteSource> m_bytes;
  std::string m_origin;
  std::uint32_t m_revision = 0;
  std::vector<format::SectionEntry> m_sections;
};

// For messages: "modules", "ring 3".
std::string sectionText(const format::SectionEntry& section);
bool isKnown(format::SectionType type);

}  // namespace traceback::loader
