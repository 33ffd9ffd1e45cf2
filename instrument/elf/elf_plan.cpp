#include "instrument/elf/elf_plan.h"

#include <algorithm>
#include <format>

#include "instrument/elf/header_room.h"
#include "instrument/elf/thread_storage.h"
#include "instrument/rounding.h"

namespace traceback::instrument {

using loader::ElfImage;
using model::Result;
using model::VirtAddr;

namespace {

// Between the data and the new segment, so that running off the end of the data still faults.
constexpr std::uint64_t kGap = 0x1'0000;
// As much more, at most, because eu-elflint takes a relocation to reach as far as its symbol is large.
constexpr std::uint64_t kLargestGap = 0x100'0000;

constexpr std::uint64_t kAddressLimit = std::uint64_t{1} << 31;

std::unexpected<model::Error> fail(const ElfImage& image, std::string message) {
  return model::fail(std::move(message), image.path());
}

std::uint64_t memoryEnd(const Elf64_Phdr& segment) { return segment.p_vaddr + segment.p_memsz; }

// Linkers leave out a .bss that is empty; what a process writes of itself keeps it, and has all of it in the
// file.
bool isDumpedProcess(const ElfImage& image) {
  return image.type() == ET_EXEC && std::ranges::any_of(image.sections(), [&](const Elf64_Shdr& section) {
           return section.sh_type == SHT_NOBITS && section.sh_size == 0 &&
                  image.sectionName(section) == ".bss";
         });
}

Result<void> checkShape(const ElfImage& image) {
  if (image.type() != ET_EXEC && image.type() != ET_DYN)
    return fail(image, "neither a program nor a shared library");
  const auto& header = image.header();
  std::uint64_t end = header.e_phoff + std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  std::uint64_t previous = 0;
  for (const auto& segment : image.segments()) {
    end = std::max(end, segment.p_offset + segment.p_filesz);
    if (segment.p_type != PT_LOAD) continue;
    if (segment.p_vaddr < previous) return fail(image, "segments that overlap or are out of order");
    if (segment.p_vaddr >= kAddressLimit || segment.p_memsz >= kAddressLimit - segment.p_vaddr) {
      return fail(image, "segments at or above 2 GiB");
    }
    previous = memoryEnd(segment);
  }
  if (!image.sections().empty()) {
    end = std::max(end, header.e_shoff + image.sections().size() * sizeof(Elf64_Shdr));
  }
  for (const auto& section : image.sections()) {
    if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL) {
      end = std::max(end, section.sh_offset + section.sh_size);
    }
  }
  if (isDumpedProcess(image))
    return fail(image, "the image of a process (unexec), whose heap is to begin where it ends");
  if (image.bytes().size() > end) {
    return model::fail("data appended behind the ELF file, which the program may look for from its end",
                       image.path(), end);
  }
  return {};
}

// The writable segment that grows, and where the slots begin.
Result<void> placeSlots(const ElfImage& image, ElfPlan& plan) {
  const auto segments = image.segments();
  for (std::size_t i = segments.size(); i-- > 0;) {
    const auto& segment = segments[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
    std::uint64_t start = roundedUp(memoryEnd(segment), 8);
    for (const auto& relro : segments) {
      // Protected up to its end rounded down; rounding up is on the safe side of other loaders.
      const std::uint64_t protectedEnd = roundedUp(memoryEnd(relro), kPageSize);
      if (relro.p_type == PT_GNU_RELRO && start >= relro.p_vaddr && start < protectedEnd)
        start = protectedEnd;
    }
    const std::uint64_t end = roundedUp(start + plan.slotsSize, kPageSize);
    const bool collides = std::ranges::any_of(segments, [&](const Elf64_Phdr& other) {
      return other.p_type == PT_LOAD && other.p_vaddr > segment.p_vaddr &&
             other.p_vaddr / kPageSize * kPageSize < end;
    });
    if (collides) continue;
    plan.moduleSlots = VirtAddr{start};
    plan.writableHeader = i;
    return {};
  }
  return fail(image, "no writable segment that can grow");
}

// How little a note is missed; nothing if it must stay. See elf_plan.h.
std::optional<int> spareRank(const ElfImage& image, std::string_view owner, std::uint32_t type) {
  constexpr std::string_view kGnu("GNU\0", 4);
  if (owner == kGnu && type == NT_GNU_PROPERTY_TYPE_0) {
    return image.segment(PT_GNU_PROPERTY) == nullptr ? std::optional<int>() : 0;
  }
  if (owner == kGnu && type == NT_GNU_ABI_TAG) return 1;
  if (owner == std::string_view("stapsdt\0", 8)) return 1;
  if (owner == std::string_view("FDO\0", 4)) return 2;
  return {};
}

std::optional<int> spareRank(const ElfImage& image, const Elf64_Phdr& segment) {
  const auto bytes = loader::slice(image.bytes(), segment.p_offset, segment.p_filesz);
  if (!bytes) return {};
  const std::uint64_t alignment = segment.p_align == 8 ? 8 : 4;
  int rank = 0;
  for (std::uint64_t at = 0; at < bytes->size();) {
    const auto note = loader::readAt<Elf64_Nhdr>(*bytes, at);
    if (!note) return {};
    const auto name = loader::slice(*bytes, at + sizeof(Elf64_Nhdr), note->n_namesz);
    const std::uint64_t descriptionAt = at + roundedUp(sizeof(Elf64_Nhdr) + note->n_namesz, alignment);
    if (!name || !loader::slice(*bytes, descriptionAt, note->n_descsz)) return {};
    const auto one = spareRank(
        image, std::string_view(reinterpret_cast<const char*>(name->data()), name->size()), note->n_type);
    if (!one) return {};
    rank = std::max(rank, *one);
    at = descriptionAt + roundedUp<std::uint64_t>(note->n_descsz, alignment);
  }
  return rank;
}

std::optional<std::size_t> findSpareNote(const ElfImage& image) {
  const auto segments = image.segments();
  std::optional<std::size_t> best;
  int bestRank = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (segments[i].p_type != PT_NOTE) continue;
    const auto rank = spareRank(image, segments[i]);
    if (!rank || (best && *rank >= bestRank)) continue;
    best = i;
    bestRank = *rank;
  }
  return best;
}

std::uint64_t gapFor(const ElfImage& image) {
  std::uint64_t gap = kGap;
  if (const auto symbols = image.dynamicSymbols()) {
    for (const auto& symbol : *symbols) gap = std::max(gap, std::min(symbol.size, kLargestGap));
  }
  return roundedUp(gap, kPageSize);
}

}  // namespace

Result<ElfPlan> planAdditions(const ElfImage& image, std::uint64_t slotsSize, std::uint64_t threadAlignment) {
  ElfPlan plan;
  plan.slotsSize = slotsSize;
  if (auto ok = checkShape(image); !ok) return std::unexpected(ok.error());
  if (auto ok = placeSlots(image, plan); !ok) return std::unexpected(ok.error());
  std::uint64_t highest = plan.moduleSlots.value + slotsSize;
  for (const auto& segment : image.segments()) {
    if (segment.p_type == PT_LOAD) highest = std::max(highest, memoryEnd(segment));
  }
  plan.segment = VirtAddr{roundedUp(highest, kPageSize) + gapFor(image)};
  if (plan.segment.value >= kAddressLimit) return fail(image, "segments at or above 2 GiB");
  plan.spareHeader = findSpareNote(image);
  const std::size_t needed = plan.spareHeader ? 0 : 1;
  if (threadAlignment != 0) plan.threadStorage = alignedThreadStorage(image, threadAlignment);
  if (plan.threadStorage && image.segment(PT_TLS) == nullptr) {
    if (auto moved = makeRoomForHeaders(image, needed + 1)) {
      plan.moved = std::move(*moved);
      return plan;
    }
    plan.threadStorage.reset();
  }
  if (needed != 0) {
    auto moved = makeRoomForHeaders(image, needed);
    if (!moved) return fail(image, "no program header to be had for a new segment: " + moved.error());
    plan.moved = std::move(*moved);
  }
  return plan;
}

}  // namespace traceback::instrument
