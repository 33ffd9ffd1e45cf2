#include "snap_dump.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

namespace traceback::testing {

namespace {

using namespace format;

template <typename T>
std::vector<T> arrayOf(const std::vector<std::uint8_t>& bytes) {
  std::vector<T> result(bytes.size() / sizeof(T));
  if (!result.empty()) std::memcpy(result.data(), bytes.data(), result.size() * sizeof(T));
  return result;
}

template <typename T>
bool oneOf(const std::vector<std::uint8_t>& bytes, T& to) {
  if (bytes.size() != sizeof to) return false;
  std::memcpy(&to, bytes.data(), sizeof to);
  return true;
}

std::optional<std::vector<std::uint8_t>> inflated(const std::uint8_t* stored, std::uint64_t storedSize,
                                                  std::uint64_t size) {
  std::vector<std::uint8_t> bytes(size);
  uLongf got = size;
  if (uncompress(bytes.data(), &got, stored, storedSize) != Z_OK || got != size) return {};
  return bytes;
}

// SnapBlock[n] and the blocks, all of which must be right.
std::optional<std::vector<std::uint8_t>> joinedBlocks(const SectionEntry& entry, const std::uint8_t* stored) {
  std::vector<SnapBlock> table((entry.size + kSnapBlockSize - 1) / kSnapBlockSize);
  std::uint64_t at = table.size() * sizeof table[0];
  if (at > entry.storedSize || crc32_z(0, stored, at) != entry.crc) return {};
  std::memcpy(table.data(), stored, at);
  std::vector<std::uint8_t> bytes;
  for (const SnapBlock& block : table) {
    const auto size = std::min(kSnapBlockSize, entry.size - bytes.size());
    if (block.storedSize > entry.storedSize - at || crc32_z(0, stored + at, block.storedSize) != block.crc)
      return {};
    const auto part = block.storedSize == size
                          ? std::optional(std::vector<std::uint8_t>(stored + at, stored + at + size))
                          : inflated(stored + at, block.storedSize, size);
    if (!part) return {};
    bytes.insert(bytes.end(), part->begin(), part->end());
    at += block.storedSize;
  }
  return at == entry.storedSize ? std::optional(bytes) : std::nullopt;
}

std::optional<std::vector<std::uint8_t>> sectionBytes(const SectionEntry& entry,
                                                      const std::vector<std::uint8_t>& file) {
  if (entry.storedSize > file.size() || entry.offset > file.size() - entry.storedSize) return {};
  const std::uint8_t* stored = file.data() + entry.offset;
  if ((entry.flags & kSectionInBlocks) != 0) return joinedBlocks(entry, stored);
  if (crc32_z(0, stored, entry.storedSize) != entry.crc) return {};
  if ((entry.flags & kSectionDeflated) == 0)
    return std::vector<std::uint8_t>(stored, stored + entry.storedSize);
  return inflated(stored, entry.storedSize, entry.size);
}

}  // namespace

const format::SnapThread* SnapDump::faulting() const {
  for (const SnapThread& thread : threads)
    if ((thread.flags & kThreadAtFault) != 0) return &thread;
  return nullptr;
}

namespace {

struct Section {
  SectionEntry entry;
  std::vector<std::uint8_t> bytes;
};

// Nothing if any part is wrong.
std::optional<std::vector<Section>> sectionsOf(const std::filesystem::path& path) {
  const auto file = readBytes(path);
  SnapHeader header;
  if (file.size() < sizeof header) return {};
  std::memcpy(&header, file.data(), sizeof header);
  const std::uint64_t tableSize = std::uint64_t{header.sectionCount} * sizeof(SectionEntry);
  if (header.magic != kSnapMagic || header.version != kSnapVersion || header.revision != kSnapRevision ||
      tableSize > file.size() || header.tableOffset > file.size() - tableSize)
    return {};
  if (crc32_z(0, file.data() + header.tableOffset, tableSize) != header.tableCrc) return {};
  std::vector<Section> sections;
  for (std::uint32_t i = 0; i < header.sectionCount; ++i) {
    SectionEntry entry;
    std::memcpy(&entry, file.data() + header.tableOffset + i * sizeof entry, sizeof entry);
    auto bytes = sectionBytes(entry, file);
    if (!bytes) return {};
    sections.push_back({entry, std::move(*bytes)});
  }
  return sections;
}

}  // namespace

std::string inflatedSections(const std::filesystem::path& file) {
  std::string all;
  for (const Section& section : sectionsOf(file).value_or(std::vector<Section>()))
    all.append(section.bytes.begin(), section.bytes.end());
  return all;
}

std::optional<SnapDump> dumpSnap(const std::filesystem::path& path) {
  const auto sections = sectionsOf(path);
  if (!sections) return {};
  SnapDump snap{};
  for (const auto& [entry, section] : *sections) {
    const auto* bytes = &section;
    const std::string text(bytes->begin(), bytes->end());
    switch (SectionType(entry.type)) {
      case SectionType::Process:
        if (!oneOf(*bytes, snap.process)) return {};
        break;
      case SectionType::Reason:
        if (!oneOf(*bytes, snap.reason)) return {};
        break;
      case SectionType::Modules:
        snap.modules = arrayOf<ProcessModule>(*bytes);
        break;
      case SectionType::ThrownTexts:
        snap.thrown = arrayOf<ThrownText>(*bytes);
        break;
      case SectionType::Threads:
        snap.threads = arrayOf<SnapThread>(*bytes);
        break;
      case SectionType::Ring: {
        auto ring = dumpRing(*bytes);
        if (!ring || entry.index != snap.rings.size()) return {};
        snap.rings.push_back(std::move(*ring));
        break;
      }
      case SectionType::MapSlice:
        snap.maps[entry.index] = *bytes;
        break;
      case SectionType::Mappings:
        snap.mappings = text;
        break;
      case SectionType::Group:
        snap.group = text;
        break;
      case SectionType::Host:
        snap.host = text;
        break;
      case SectionType::ModuleFiles:
        snap.files = text;
        break;
      case SectionType::MemoryRanges:
        snap.memoryRanges = arrayOf<MemoryRange>(*bytes);
        break;
      case SectionType::Memory:
        snap.memory[entry.index] = *bytes;
        break;
      case SectionType::AuxiliaryVector:
        snap.auxiliaryVector = *bytes;
        break;
      case SectionType::ExtendedRegisters:
        snap.extendedRegisters[entry.index] = *bytes;
        break;
      default:
        return {};
    }
  }
  return snap;
}

}  // namespace traceback::testing
