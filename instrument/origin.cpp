#include "instrument/origin.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <format>
#include <span>

#include "instrument/instrument.h"
#include "runtime/format/origin.h"

namespace traceback::instrument {

using format::OriginHeader;
using format::OriginStretch;
using loader::Bytes;
using loader::ElfImage;
using model::Result;

namespace {

using Hash = decltype(XXH128_canonical_t::digest);

XXH128_canonical_t hashOf(Bytes bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return canonical;
}

// Where the two differ. Differences near each other are one stretch; the header of ELF always is.
std::vector<OriginStretch> differences(Bytes original, Bytes written) {
  constexpr std::uint64_t kNear = 32, kBlock = 4096;
  std::vector<OriginStretch> stretches{{0, sizeof(Elf64_Ehdr)}};
  for (std::uint64_t block = 0; block < original.size(); block += kBlock) {
    const std::uint64_t end = std::min<std::uint64_t>(block + kBlock, original.size());
    if (std::memcmp(&original[block], &written[block], end - block) == 0) continue;
    for (std::uint64_t at = block; at < end; ++at) {
      if (original[at] == written[at]) continue;
      OriginStretch& last = stretches.back();
      if (at < last.offset + last.size + kNear)
        last.size = std::max(last.size, at + 1 - last.offset);
      else
        stretches.push_back({at, 1});
    }
  }
  return stretches;
}

template <typename T>
void append(std::vector<std::byte>& to, std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  to.insert(to.end(), bytes.begin(), bytes.end());
}

struct Record {
  OriginHeader header{};
  Bytes stretches, strings, bytes;
};

Result<Record> readRecord(const ElfImage& image) {
  const Elf64_Shdr* section = image.section(format::kOriginSection);
  if (section == nullptr)
    return model::fail("holds no record of its original: was it instrumented by `traceback instrument`?",
                       image.path());
  const auto damaged = [&] {
    return model::fail("its record of the original is damaged", image.path(), section->sh_offset);
  };
  const Bytes contents = image.contents(*section);
  const auto header = loader::readAt<OriginHeader>(contents, 0);
  if (!header || header->magic != format::kOriginMagic) return damaged();
  if (header->version != format::kOriginVersion || header->headerSize < sizeof(OriginHeader))
    return model::fail(
        std::format("its record of the original has version {}, which this program does not know",
                    header->version),
        image.path());
  Record record{.header = *header, .stretches = {}, .strings = {}, .bytes = {}};
  const std::uint64_t tableSize = std::uint64_t{header->stretchCount} * sizeof(OriginStretch);
  const auto stretches = loader::slice(contents, header->headerSize, tableSize);
  const auto strings = loader::slice(contents, header->headerSize + tableSize, header->stringBytes);
  if (!stretches || !strings) return damaged();
  record.stretches = *stretches;
  record.strings = *strings;
  record.bytes = contents.subspan(header->headerSize + tableSize + header->stringBytes);
  return record;
}

}  // namespace

std::vector<std::byte> originRecord(Bytes original, Bytes written, const std::string& product,
                                    const std::string& options) {
  const auto stretches = differences(original, written);
  std::string strings(1, '\0');
  OriginHeader header{};
  header.magic = format::kOriginMagic;
  header.version = format::kOriginVersion;
  header.headerSize = sizeof header;
  const auto hash = hashOf(original);
  std::memcpy(header.hash, hash.digest, sizeof header.hash);
  header.originalSize = original.size();
  header.instrumentor = kInstrumentorVersion;
  header.stretchCount = static_cast<std::uint32_t>(stretches.size());
  const auto intern = [&](const std::string& text) {
    const auto at = static_cast<std::uint32_t>(strings.size());
    strings.append(text.c_str(), text.size() + 1);
    return at;
  };
  header.product = intern(product);
  header.options = intern(options);
  header.stringBytes = static_cast<std::uint32_t>(strings.size());

  std::vector<std::byte> record;
  append(record, std::span<const OriginHeader>(&header, 1));
  append(record, std::span<const OriginStretch>(stretches));
  append(record, std::span<const char>(strings));
  for (const auto& stretch : stretches) append(record, original.subspan(stretch.offset, stretch.size));
  return record;
}

bool hasOrigin(const ElfImage& image) { return image.section(format::kOriginSection) != nullptr; }

Result<OriginInfo> readOrigin(const ElfImage& image) {
  const auto record = readRecord(image);
  if (!record) return std::unexpected(record.error());
  OriginInfo origin{
      .size = record->header.originalSize,
      .hash = {},
      .instrumentor = record->header.instrumentor,
      .product = std::string(loader::stringAt(record->strings, record->header.product).value_or("")),
      .options = std::string(loader::stringAt(record->strings, record->header.options).value_or(""))};
  for (const std::uint8_t byte : record->header.hash) origin.hash += std::format("{:02x}", byte);
  return origin;
}

Result<std::vector<std::byte>> originalBytes(const ElfImage& image) {
  const auto record = readRecord(image);
  if (!record) return std::unexpected(record.error());
  const auto changed = [&] {
    return model::fail(
        "was changed after it was instrumented (by strip or patchelf, say): the original cannot be had back "
        "from it",
        image.path());
  };
  const OriginHeader& header = record->header;
  if (header.originalSize > image.bytes().size()) return changed();
  const Bytes kept = image.bytes().first(header.originalSize);
  std::vector<std::byte> original(kept.begin(), kept.end());
  Bytes bytes = record->bytes;
  for (std::uint32_t i = 0; i < header.stretchCount; ++i) {
    const auto stretch = *loader::readAt<OriginStretch>(record->stretches, i * sizeof(OriginStretch));
    if (stretch.size > original.size() || stretch.offset > original.size() - stretch.size ||
        stretch.size > bytes.size())
      return changed();
    std::ranges::copy(bytes.first(stretch.size),
                      original.begin() + static_cast<std::ptrdiff_t>(stretch.offset));
    bytes = bytes.subspan(stretch.size);
  }
  if (std::memcmp(hashOf(original).digest, header.hash, sizeof header.hash) != 0) return changed();
  return original;
}

}  // namespace traceback::instrument
