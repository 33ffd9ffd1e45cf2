// One function more that the dynamic linker calls, before every constructor: DT_PREINIT_ARRAY (gABI,
// chapter 5).
//
// Two spare entries of the dynamic section take the tag and its size. The array has one entry, which must be
// the function's address at run time: in a program at a fixed address the file holds it; in another, a
// relocation writes it, and so the table of DT_RELA moves into the new segment, where it can be longer.
#pragma once

#include <optional>
#include <string>

#include "loader/elf/elf_image.h"

namespace traceback::instrument {

// Why a file cannot have one; nothing if it can.
std::optional<std::string> whyNoPreinit(const loader::ElfImage& image);

// Index of the first spare entry of the dynamic section, if there are two behind each other and one is left
// to end it.
std::optional<std::size_t> spareDynamicEntries(const loader::ElfImage& image);

// Index of the section that is the table of DT_RELA.
std::optional<std::size_t> relocationSection(const loader::ElfImage& image);

}  // namespace traceback::instrument
