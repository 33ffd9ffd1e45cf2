#include "instrument/elf/preinit.h"

#include <algorithm>
#include <cstring>

namespace traceback::instrument {

using loader::ElfImage;

std::optional<std::size_t> spareDynamicEntries(const ElfImage& image) {
  const auto* segment = image.segment(PT_DYNAMIC);
  if (segment == nullptr) return {};
  constexpr std::size_t kNeeded = 3;  // with the one that ends it
  const std::size_t used = image.dynamic().size();
  const std::size_t total = segment->p_filesz / sizeof(Elf64_Dyn);
  if (total < used || total - used < kNeeded) return {};
  const auto spare =
      loader::slice(image.bytes(), segment->p_offset + used * sizeof(Elf64_Dyn), kNeeded * sizeof(Elf64_Dyn));
  if (!spare || std::ranges::any_of(*spare, [](std::byte byte) { return byte != std::byte{0}; })) return {};
  return used;
}

std::optional<std::size_t> relocationSection(const ElfImage& image) {
  const auto address = image.dynamicValue(DT_RELA);
  const auto size = image.dynamicValue(DT_RELASZ);
  const auto sections = image.sections();
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (sections[i].sh_type == SHT_RELA && (sections[i].sh_flags & SHF_ALLOC) != 0 &&
        sections[i].sh_addr == address && sections[i].sh_size == size)
      return i;
  }
  return {};
}

std::optional<std::string> whyNoPreinit(const ElfImage& image) {
  const auto* interpreter = image.segment(PT_INTERP);
  if (interpreter == nullptr) return "it is a library";
  constexpr char kLinker[] = "/lib64/ld-linux-x86-64.so.2";
  const auto path = loader::slice(image.bytes(), interpreter->p_offset, interpreter->p_filesz);
  if (!path || path->size() != sizeof kLinker || std::memcmp(path->data(), kLinker, sizeof kLinker) != 0)
    return "its dynamic linker is not the GNU C library's";
  if (image.dynamicValue(DT_PREINIT_ARRAY)) return "it has functions to be called before all others";
  if (!spareDynamicEntries(image)) return "its dynamic section has no room";
  if (image.type() == ET_EXEC) return {};
  const auto table = image.dynamicValue(DT_RELA);
  const auto size = image.dynamicValue(DT_RELASZ);
  if (!table || !size || !image.bytesAt({*table}, *size) || *size % sizeof(Elf64_Rela) != 0)
    return "it has no table of relocations";
  if (!image.sections().empty() && !relocationSection(image))
    return "its relocations are not those of one section";
  return {};
}

}  // namespace traceback::instrument
