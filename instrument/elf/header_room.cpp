#include "instrument/elf/header_room.h"

#include <algorithm>

#include "instrument/rounding.h"

namespace traceback::instrument {

using loader::ElfImage;

namespace {

struct Range {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  bool overlaps(std::uint64_t from, std::uint64_t to) const { return from < end && start < to; }
};

bool isLoaded(const Elf64_Shdr& section) {
  return (section.sh_flags & SHF_ALLOC) != 0 && section.sh_type != SHT_NOBITS && section.sh_size != 0;
}

// Headers that name a range which may move: the others are of whole segments, or of no range.
bool namesRange(const Elf64_Phdr& segment) {
  return segment.p_filesz != 0 && segment.p_type != PT_LOAD && segment.p_type != PT_PHDR;
}

// The smallest range that holds `range` and cuts through no section and no header's range.
Range closure(const ElfImage& image, Range range) {
  const auto extend = [&](std::uint64_t start, std::uint64_t size) {
    if (!range.overlaps(start, start + size) || (start >= range.start && start + size <= range.end))
      return false;
    range = {std::min(range.start, start), std::max(range.end, start + size)};
    return true;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& section : image.sections()) {
      if (isLoaded(section)) changed |= extend(section.sh_offset, section.sh_size);
    }
    for (const auto& segment : image.segments()) {
      if (namesRange(segment)) changed |= extend(segment.p_offset, segment.p_filesz);
    }
  }
  return range;
}

std::optional<std::int64_t> dynamicTagOf(std::uint32_t sectionType) {
  switch (sectionType) {
    case SHT_GNU_HASH:
      return DT_GNU_HASH;
    case SHT_HASH:
      return DT_HASH;
    case SHT_DYNSYM:
      return DT_SYMTAB;
    default:
      return {};
  }
}

// The range as something that can move, or nothing if other parts of the file may refer into it.
std::optional<MovedStretch> movable(const ElfImage& image, Range range) {
  MovedStretch stretch{.offset = range.start,
                       .size = range.end - range.start,
                       .alignment = 1,
                       .dynamicTag = {},
                       .newOffset = {}};
  std::size_t others = 0;
  std::size_t notes = 0;
  for (const auto& section : image.sections()) {
    if (!isLoaded(section) || !range.overlaps(section.sh_offset, section.sh_offset + section.sh_size))
      continue;
    stretch.alignment = std::max(stretch.alignment, section.sh_addralign);
    if (section.sh_type == SHT_NOTE) {
      ++notes;
      continue;
    }
    ++others;
    if (const auto tag = dynamicTagOf(section.sh_type)) {
      if (image.dynamicValue(*tag) != section.sh_addr) return {};
      stretch.dynamicTag = tag;
    } else if (image.sectionName(section) != ".interp") {
      return {};
    }
  }
  for (const auto& segment : image.segments()) {
    if (!namesRange(segment) || !range.overlaps(segment.p_offset, segment.p_offset + segment.p_filesz))
      continue;
    if (segment.p_type != PT_NOTE && segment.p_type != PT_GNU_PROPERTY && segment.p_type != PT_INTERP)
      return {};
  }
  constexpr std::uint64_t kLargestAlignment = 64;
  if (others > 1 || (others == 1 && notes > 0) || others + notes == 0 ||
      stretch.alignment > kLargestAlignment)
    return {};
  return stretch;
}

}  // namespace

std::expected<std::vector<MovedStretch>, std::string> makeRoomForHeaders(const ElfImage& image,
                                                                         std::size_t count) {
  const auto& header = image.header();
  const std::uint64_t tableEnd = header.e_phoff + std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  const std::uint64_t newEnd = tableEnd + count * sizeof(Elf64_Phdr);
  if (image.sections().empty()) return std::unexpected("no section headers say what lies behind the table");
  const auto first = std::ranges::find(image.segments(), PT_LOAD, &Elf64_Phdr::p_type);
  if (first == image.segments().end() || first->p_offset > header.e_phoff ||
      first->p_offset + first->p_filesz < newEnd) {
    return std::unexpected("the table is not in the first segment");
  }

  std::vector<MovedStretch> moved;
  std::uint64_t at = tableEnd;
  while (at < newEnd) {
    const Range range = closure(image, {at, at + 1});
    if (range.start < at) return std::unexpected("something lies across the end of the table");
    if (range.end == at + 1 && std::ranges::none_of(image.sections(), [&](const Elf64_Shdr& section) {
          return isLoaded(section) && section.sh_offset == at;
        })) {
      // Of no section: padding, if it is zero.
      if (image.bytes()[at] != std::byte{0}) return std::unexpected("unknown bytes behind the table");
      ++at;
      continue;
    }
    const auto stretch = movable(image, range);
    if (!stretch || range.end > first->p_offset + first->p_filesz) {
      return std::unexpected("what lies behind the table cannot move");
    }
    moved.push_back(*stretch);
    at = range.end;
  }
  // What debuggers and the kernel look for in the first page stays there, if room was gained.
  std::uint64_t room = newEnd;
  for (auto& stretch : moved) {
    if (stretch.dynamicTag) continue;
    const std::uint64_t place = roundedUp(room, stretch.alignment);
    if (place + stretch.size > at) continue;
    stretch.newOffset = place;
    room = place + stretch.size;
  }
  return moved;
}

}  // namespace traceback::instrument
