#include "loader/snap/snap_reader.h"

#include <algorithm>
#include <format>

#include "loader/snap/inflate.h"
#include "loader/snap/section_blocks.h"

namespace traceback::loader {

using format::SectionEntry;
using format::SectionType;
using format::SnapHeader;

std::string sectionText(const SectionEntry& section) {
  switch (static_cast<SectionType>(section.type)) {
    case SectionType::Process:
      return "process";
    case SectionType::Modules:
      return "modules";
    case SectionType::Reason:
      return "reason";
    case SectionType::Threads:
      return "threads";
    case SectionType::Ring:
      return std::format("ring {}", section.index);
    case SectionType::MapSlice:
      return std::format("map of module {}", section.index);
    case SectionType::Memory:
      return std::format("memory {}", section.index);
    case SectionType::Mappings:
      return "mappings";
    case SectionType::Host:
      return "host";
    case SectionType::ModuleFiles:
      return "module files";
    case SectionType::MemoryRanges:
      return "memory ranges";
    case SectionType::AuxiliaryVector:
      return "auxiliary vector";
    case SectionType::ExtendedRegisters:
      return std::format("extended registers {}", section.index);
  }
  return std::format("section of unknown type {}", section.type);
}

model::Result<SnapReader> SnapReader::open(std::shared_ptr<const ByteSource> bytes, std::string origin) {
  SnapReader reader(std::move(bytes), std::move(origin));
  const auto& source = *reader.m_bytes;
  const auto error = [&](std::string message, std::uint64_t offset) {
    return model::fail(std::move(message), reader.m_origin, offset);
  };
  const auto magic = source.readAt<std::uint64_t>(0);
  if (!magic || *magic != format::kSnapMagic) return error("not a TraceBack snap", 0);
  const auto header = source.readAt<SnapHeader>(0);
  if (!header) return error("truncated snap header", source.size());
  if (header->version != format::kSnapVersion) {
    return error(std::format("snap version {} is not known to this reader ({})", header->version,
                             format::kSnapVersion),
                 offsetof(SnapHeader, version));
  }
  if (header->headerSize < sizeof(SnapHeader))
    return error("damaged snap: header too small", offsetof(SnapHeader, headerSize));
  if (header->sectionEntrySize < sizeof(SectionEntry)) {
    return error("damaged snap: section entries too small", offsetof(SnapHeader, sectionEntrySize));
  }
  const auto table =
      partOf(source, header->tableOffset, std::uint64_t{header->sectionCount} * header->sectionEntrySize);
  if (!table) return error("truncated snap: its section table lies beyond the end", header->tableOffset);
  if (crcOf(*table) != header->tableCrc)
    return error("damaged snap: the section table's checksum is wrong", header->tableOffset);
  reader.m_sections.reserve(header->sectionCount);
  for (std::uint64_t i = 0; i < header->sectionCount; ++i) {
    reader.m_sections.push_back(*readAt<SectionEntry>(*table, i * header->sectionEntrySize));
  }
  return reader;
}

model::Result<SnapReader> SnapReader::openFile(const std::filesystem::path& file) {
  auto opened = RegularFile::open(file);
  if (!opened) return std::unexpected(opened.error());
  return open(std::make_shared<const FileBytes>(std::move(*opened)), file.string());
}

const SectionEntry* SnapReader::find(SectionType type, std::uint32_t index) const {
  const auto found = std::ranges::find_if(m_sections, [&](const SectionEntry& section) {
    return section.type == static_cast<std::uint32_t>(type) && section.index == index;
  });
  return found == m_sections.end() ? nullptr : &*found;
}

std::vector<const SectionEntry*> SnapReader::all(SectionType type) const {
  std::vector<const SectionEntry*> result;
  for (const auto& section : m_sections) {
    if (section.type == static_cast<std::uint32_t>(type)) result.push_back(&section);
  }
  std::ranges::stable_sort(result, {}, &SectionEntry::index);
  return result;
}

model::Error SnapReader::error(const SectionEntry& section, std::string_view what) const {
  return {std::format("{}: {}", sectionText(section), what), m_origin, section.offset};
}

model::Result<std::vector<std::byte>> SnapReader::readWhole(const SectionEntry& section) const {
  auto stored = partOf(*m_bytes, section.offset, section.storedSize);
  if (!stored) return std::unexpected(error(section, "lies beyond the end of the file"));
  if (crcOf(*stored) != section.crc) return std::unexpected(error(section, "its checksum is wrong"));
  if ((section.flags & format::kSectionDeflated) == 0) {
    if (section.size != section.storedSize)
      return std::unexpected(error(section, "contradicts itself about its size"));
    return std::move(*stored);
  }
  auto bytes = inflateTo(*stored, section.size);
  if (!bytes) return std::unexpected(error(section, "does not inflate to its size"));
  return std::move(*bytes);
}

model::Result<std::shared_ptr<const ByteSource>> SnapReader::openSection(const SectionEntry& section) const {
  if (section.size > kMaxSectionSize) return std::unexpected(error(section, "is too large"));
  if ((section.flags & format::kSectionInBlocks) == 0) {
    auto bytes = readWhole(section);
    if (!bytes) return std::unexpected(bytes.error());
    return std::make_shared<const MemoryBytes>(std::move(*bytes));
  }
  auto blocks = SectionBlocks::open(m_bytes, section);
  if (!blocks) return std::unexpected(error(section, blocks.error()));
  return std::move(*blocks);
}

model::Result<std::vector<std::byte>> SnapReader::read(const SectionEntry& section) const {
  if (section.size > kMaxSectionSize) return std::unexpected(error(section, "is too large"));
  if ((section.flags & format::kSectionInBlocks) == 0) return readWhole(section);
  const auto source = openSection(section);
  if (!source) return std::unexpected(source.error());
  auto bytes = partOf(**source, 0, section.size);
  if (!bytes) return std::unexpected(error(section, "a part of it is damaged"));
  return std::move(*bytes);
}

}  // namespace traceback::loader
