#include "instrument/starter.h"

#include <algorithm>
#include <cstring>

#include "instrument/rounding.h"
#include "runtime/format/module.h"
#include "runtime/format/starter.h"

// Room for the header, then the code (starter_code.S).
extern "C" const std::byte traceback_starter_begin[];
extern "C" const std::byte traceback_starter_end[];

namespace traceback::instrument {

namespace {

constexpr std::uint64_t kAlignment = 16;

std::uint64_t append(NewSegment& segment, std::span<const std::byte> bytes, std::uint64_t alignment) {
  segment.bytes.resize(roundedUp(segment.bytes.size(), alignment));
  const std::uint64_t address = segment.address.value + segment.bytes.size();
  segment.bytes.insert(segment.bytes.end(), bytes.begin(), bytes.end());
  return address;
}

}  // namespace

bool canBeRuntime(const std::string& path) {
  return path.starts_with('/') && path.size() < sizeof format::StarterHeader::runtime &&
         path.find_first_of(std::string_view(": \0", 3)) == std::string::npos;
}

Preinit addStarter(const loader::ElfImage& image, const ElfPlan& layout, const std::string& runtime,
                   NewSegment& segment) {
  const std::span code(traceback_starter_begin, traceback_starter_end);
  const std::uint64_t start = append(segment, code, kAlignment);
  format::StarterHeader header{};
  header.magic = format::kStarterMagic;
  header.version = format::kStarterVersion;
  header.headerSize = sizeof header;
  header.moduleSlots = static_cast<std::int64_t>(layout.moduleSlots.value) - static_cast<std::int64_t>(start);
  header.entry = static_cast<std::int64_t>(image.entry().value) - static_cast<std::int64_t>(start);
  std::ranges::copy(std::as_bytes(std::span(runtime)),
                    std::as_writable_bytes(std::span(header.runtime)).begin());
  std::memcpy(segment.bytes.data() + (start - segment.address.value), &header, sizeof header);

  Preinit preinit{.function = {start + sizeof header}, .array = {}};
  // At a fixed address nothing writes the array, so it can be where it cannot be written.
  preinit.array = {layout.moduleSlots.value + sizeof(format::ModuleSlots)};
  if (image.type() == ET_EXEC)
    preinit.array = {
        append(segment, std::as_bytes(std::span(&preinit.function.value, 1)), sizeof(std::uint64_t))};
  const std::uint64_t end = segment.address.value + segment.bytes.size();
  segment.parts.push_back({format::kStarterSection, {start}, end - start, true, kAlignment});
  return preinit;
}

}  // namespace traceback::instrument
