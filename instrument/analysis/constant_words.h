// Words of a program's data that stay what they are while it runs: in segments that it cannot write, and
// where the dynamic linker has relocated and then protected them (PT_GNU_RELRO).
#pragma once

#include <optional>
#include <ranges>
#include <vector>

#include "loader/elf/elf_image.h"

namespace traceback::instrument {

using model::VirtAddr;

// Safe for concurrent use.
class ConstantWords {
 public:
  explicit ConstantWords(const loader::ElfImage& image);

  // The word of 32 bits there; nothing if it may change or the file does not have it.
  std::optional<std::int32_t> offsetAt(VirtAddr place) const;
  // The word of 64 bits there that is the address of something of this file, as linked; nothing if it may be
  // anything else.
  std::optional<VirtAddr> addressAt(VirtAddr place) const;

 private:
  using Relocations = std::ranges::subrange<std::vector<loader::ElfRelocation>::const_iterator>;

  bool isConstant(VirtAddr place, std::uint64_t size) const;
  Relocations relocationsOf(VirtAddr place, std::uint64_t size) const;  // that write any of it

  const loader::ElfImage& m_image;
  struct Range {
    std::uint64_t start, end;
  };
  std::vector<Range> m_constant;
  std::vector<loader::ElfRelocation> m_relocations;  // by address
};

}  // namespace traceback::instrument
