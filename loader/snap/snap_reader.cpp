#include "loader/snap/snap_reader.h"

#include <algorithm>
#include <format>

#include "loader/snap/inflate.h"
#include "loader/snap/section_blocks.h"
#include "runtime/format/process.h"

namespace traceback::loader {

using format::SectionEntry;
using format::SectionType;
using format::SnapHeader;

namespace {

// What sections of a type are called; those of a type that is not known, nothing.
std::string_view nameOf(SectionType type) {
  switch (type) {
    case SectionType::Process:
      return "process";
    case SectionType::Modules:
      return "modules";
    case SectionType::Reason:
      return "reason";
    case SectionType::Threads:
      return "threads";
    case SectionType::Ring:
      return "ring";
    case SectionType::MapSlice:
      return "map of module";
    case SectionType::Memory:
      return "memory";
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
      return "extended registers";
    case SectionType::Group:
      return "group";
    case SectionType::ThrownTexts:
      return "thrown texts";
  }
  return {};
}

// More than this none of a type can have; so that a few bytes that claim, or inflate to, more than anybody
// means are not so much as looked at. Rings, maps and memory are as large as they are.
std::uint64_t mostBytesOf(SectionType type) {
  constexpr std::uint64_t kMostThreads = std::uint64_t{1} << 18;
  constexpr std::uint64_t kText = std::uint64_t{1} << 24;
  switch (type) {
    case SectionType::Modules:
      return format::kMaxModules * sizeof(format::ProcessModule);
    case SectionType::ThrownTexts:
      return format::kThrownTexts * sizeof(format::ThrownText);
    case SectionType::Threads:
      return kMostThreads * sizeof(format::SnapThread);
    case SectionType::Process:
    case SectionType::Reason:
    case SectionType::Host:
    case SectionType::Group:
    case SectionType::AuxiliaryVector:
    case SectionType::ExtendedRegisters:
      return kText;
    case SectionType::Mappings:
    case SectionType::ModuleFiles:
    case SectionType::MemoryRanges:
      return 4 * kText;  // of some hundred thousand mappings
    case SectionType::Ring:
    case SectionType::MapSlice:
    case SectionType::Memory:
      break;
  }
  return kMaxSectionSize;
}

// There may be several, told apart by their index.
bool isNumbered(SectionType type) {
  return type == SectionType::Ring || type == SectionType::MapSlice || type == SectionType::Memory ||
         type == SectionType::ExtendedRegisters;
}

}  // namespace

bool isKnown(SectionType type) { return !nameOf(type).empty(); }

std::string sectionText(const SectionEntry& section) {
  const auto type = static_cast<SectionType>(section.type);
  if (!isKnown(type)) return std::format("section of unknown type {}", section.type);
  return isNumbered(type) ? std::format("{} {}", nameOf(type), section.index) : std::string(nameOf(type));
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
    const bool newer = header->version > format::kSnapVersion;
    return error(std::format("snap version {} is {} than this TraceBack reads ({}): open it with {}",
                             header->version, newer ? "newer" : "older", format::kSnapVersion,
                             newer ? "the TraceBack that recorded it, or a later one"
                                   : "the TraceBack that recorded it"),
                 offsetof(SnapHeader, version));
  }
  reader.m_revision = header->revision;
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

std::optional<model::Error> SnapReader::problemOf(const SectionEntry& section) const {
  if (section.size > mostBytesOf(static_cast<SectionType>(section.type)))
    return error(section, "is too large");
  if ((section.flags & ~format::kKnownSectionFlags) != 0)
    return error(section, "is stored in a way that this TraceBack does not know");
  return std::nullopt;
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
  if (const auto problem = problemOf(section)) return std::unexpected(*problem);
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
  if (const auto problem = problemOf(section)) return std::unexpected(*problem);
  if ((section.flags & format::kSectionInBlocks) == 0) return readWhole(section);
  const auto source = openSection(section);
  if (!source) return std::unexpected(source.error());
  auto bytes = partOf(**source, 0, section.size);
  if (!bytes) return std::unexpected(error(section, "a part of it is damaged"));
  return std::move(*bytes);
}

}  // namespace traceback::loader
