#include "loader/snap/snap_reader.h"

#include <zlib.h>

#include <algorithm>
#include <format>

namespace traceback::loader {

using format::SectionEntry;
using format::SectionType;
using format::SnapHeader;

namespace {

std::uint32_t crcOf(Bytes bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

struct Inflater {
  z_stream stream{};
  bool ready = false;
  Inflater() { ready = inflateInit(&stream) == Z_OK; }
  ~Inflater() {
    if (ready) inflateEnd(&stream);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

// Grows with what is really there, so that a false size costs nothing. Empty on any contradiction.
std::optional<std::vector<std::byte>> inflateTo(Bytes stored, std::uint64_t size) {
  Inflater inflater;
  if (!inflater.ready) return std::nullopt;
  constexpr std::size_t kStep = std::size_t{1} << 20;
  auto& stream = inflater.stream;
  std::vector<std::byte> out;
  std::size_t produced = 0, consumed = 0;
  for (;;) {
    if (produced == out.size() && out.size() < size) {
      out.resize(
          static_cast<std::size_t>(std::min<std::uint64_t>(size, out.size() + std::max(kStep, out.size()))));
    }
    const auto in = static_cast<uInt>(std::min(stored.size() - consumed, kStep));
    const auto room = static_cast<uInt>(std::min(out.size() - produced, kStep));
    std::byte spare{};  // lets the stream end without room, and shows when it is longer than it says
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(stored.data() + consumed));
    stream.avail_in = in;
    stream.next_out = reinterpret_cast<Bytef*>(room == 0 ? &spare : out.data() + produced);
    stream.avail_out = room == 0 ? 1 : room;
    const auto offered = stream.avail_out;
    const int status = inflate(&stream, Z_NO_FLUSH);
    consumed += in - stream.avail_in;
    const auto got = offered - stream.avail_out;
    if (room == 0 && got != 0) return std::nullopt;
    produced += got;
    if (status == Z_STREAM_END) break;
    if (status != Z_OK || (got == 0 && stream.avail_in == in)) return std::nullopt;
  }
  if (produced != size) return std::nullopt;
  out.resize(produced);
  return out;
}

}  // namespace

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
  }
  return std::format("section of unknown type {}", section.type);
}

model::Result<SnapReader> SnapReader::open(Bytes bytes, std::string origin) {
  SnapReader reader(bytes, std::move(origin));
  const auto error = [&](std::string message, std::uint64_t offset) {
    return model::fail(std::move(message), reader.m_origin, offset);
  };
  const auto magic = readAt<std::uint64_t>(bytes, 0);
  if (!magic || *magic != format::kSnapMagic) return error("not a TraceBack snap", 0);
  const auto header = readAt<SnapHeader>(bytes, 0);
  if (!header) return error("truncated snap header", bytes.size());
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
  const auto table = sliceOf(bytes, header->tableOffset, header->sectionCount, header->sectionEntrySize);
  if (!table) return error("truncated snap: its section table lies beyond the end", header->tableOffset);
  if (crcOf(*table) != header->tableCrc)
    return error("damaged snap: the section table's checksum is wrong", header->tableOffset);
  reader.m_sections.reserve(header->sectionCount);
  for (std::uint64_t i = 0; i < header->sectionCount; ++i) {
    reader.m_sections.push_back(*readAt<SectionEntry>(*table, i * header->sectionEntrySize));
  }
  return reader;
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

model::Result<std::vector<std::byte>> SnapReader::read(const SectionEntry& section) const {
  const auto error = [&](std::string_view what) {
    return model::fail(std::format("{}: {}", sectionText(section), what), m_origin, section.offset);
  };
  const auto stored = slice(m_bytes, section.offset, section.storedSize);
  if (!stored) return error("lies beyond the end of the file");
  if (crcOf(*stored) != section.crc) return error("its checksum is wrong");
  if (section.size > kMaxSectionSize) return error("is too large");
  if ((section.flags & format::kSectionDeflated) == 0) {
    if (section.size != section.storedSize) return error("contradicts itself about its size");
    return std::vector<std::byte>(stored->begin(), stored->end());
  }
  auto bytes = inflateTo(*stored, section.size);
  if (!bytes) return error("does not inflate to its size");
  return std::move(*bytes);
}

}  // namespace traceback::loader
