#include "snap_dump.h"

#include <zlib.h>

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

std::optional<std::vector<std::uint8_t>> sectionBytes(const SectionEntry& entry,
                                                      const std::vector<std::uint8_t>& file) {
  if (entry.storedSize > file.size() || entry.offset > file.size() - entry.storedSize) return {};
  const std::uint8_t* stored = file.data() + entry.offset;
  if (crc32_z(0, stored, entry.storedSize) != entry.crc) return {};
  if ((entry.flags & kSectionDeflated) == 0)
    return std::vector<std::uint8_t>(stored, stored + entry.storedSize);
  std::vector<std::uint8_t> bytes(entry.size);
  uLongf size = entry.size;
  if (uncompress(bytes.data(), &size, stored, entry.storedSize) != Z_OK || size != entry.size) return {};
  return bytes;
}

}  // namespace

const format::SnapThread* SnapDump::faulting() const {
  for (const SnapThread& thread : threads)
    if ((thread.flags & kThreadAtFault) != 0) return &thread;
  return nullptr;
}

std::optional<SnapDump> dumpSnap(const std::filesystem::path& path) {
  const auto file = readBytes(path);
  SnapHeader header;
  if (file.size() < sizeof header) return {};
  std::memcpy(&header, file.data(), sizeof header);
  const std::uint64_t tableSize = std::uint64_t{header.sectionCount} * sizeof(SectionEntry);
  if (header.magic != kSnapMagic || header.version != kSnapVersion || tableSize > file.size() ||
      header.tableOffset > file.size() - tableSize)
    return {};
  if (crc32_z(0, file.data() + header.tableOffset, tableSize) != header.tableCrc) return {};
  SnapDump snap{};
  for (std::uint32_t i = 0; i < header.sectionCount; ++i) {
    SectionEntry entry;
    std::memcpy(&entry, file.data() + header.tableOffset + i * sizeof entry, sizeof entry);
    const auto bytes = sectionBytes(entry, file);
    if (!bytes) return {};
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
      case SectionType::Host:
        snap.host = text;
        break;
      case SectionType::ModuleFiles:
        snap.files = text;
        break;
      default:
        return {};
    }
  }
  return snap;
}

}  // namespace traceback::testing
