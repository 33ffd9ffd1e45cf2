#include "instrument/analysis/constant_words.h"

#include <algorithm>

namespace traceback::instrument {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kReach = 15;  // a relocation writes 16 bytes at most

}  // namespace

ConstantWords::ConstantWords(const loader::ElfImage& image) : m_image(image) {
  auto relocations = image.relocations();
  if (!relocations) return;  // then nothing is known to be constant
  m_relocations = std::move(*relocations);
  std::ranges::stable_sort(m_relocations, {}, &loader::ElfRelocation::address);
  for (const Elf64_Phdr& segment : image.segments()) {
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) == 0)
      m_constant.push_back({segment.p_vaddr, segment.p_vaddr + segment.p_filesz});
    // Whole pages alone are protected.
    if (segment.p_type == PT_GNU_RELRO)
      m_constant.push_back({segment.p_vaddr, (segment.p_vaddr + segment.p_memsz) / kPage * kPage});
  }
}

bool ConstantWords::isConstant(VirtAddr place, std::uint64_t size) const {
  return std::ranges::any_of(m_constant, [&](const Range& range) {
    return place.value >= range.start && place.value < range.end && size <= range.end - place.value;
  });
}

ConstantWords::Relocations ConstantWords::relocationsOf(VirtAddr place, std::uint64_t size) const {
  const auto address = &loader::ElfRelocation::address;
  const VirtAddr first{place.value - std::min(place.value, kReach)}, end{place.value + size};
  auto from = std::ranges::lower_bound(m_relocations, first, {}, address);
  const auto to = std::ranges::lower_bound(m_relocations, end, {}, address);
  const auto reaches = [&](const loader::ElfRelocation& r) {
    return r.address.value + (r.type == R_X86_64_TLSDESC ? 16 : 8) > place.value;
  };
  while (from != to && !reaches(*from)) ++from;
  return {from, to};
}

std::optional<std::int32_t> ConstantWords::offsetAt(VirtAddr place) const {
  const auto bytes = m_image.bytesAt(place, 4);
  if (!bytes || !isConstant(place, 4) || !relocationsOf(place, 4).empty()) return std::nullopt;
  return loader::readAt<std::int32_t>(*bytes, 0);
}

std::optional<VirtAddr> ConstantWords::addressAt(VirtAddr place) const {
  const auto bytes = m_image.bytesAt(place, 8);
  if (!bytes || !isConstant(place, 8)) return std::nullopt;
  const Relocations near = relocationsOf(place, 8);
  if (near.empty())
    return m_image.type() == ET_EXEC ? std::optional(VirtAddr{*loader::readAt<std::uint64_t>(*bytes, 0)})
                                     : std::nullopt;
  const loader::ElfRelocation& only = near.front();
  if (near.size() != 1 || only.address != place || only.type != R_X86_64_RELATIVE) return std::nullopt;
  return VirtAddr{std::uint64_t(only.addend)};
}

}  // namespace traceback::instrument
