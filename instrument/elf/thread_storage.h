// A program's thread-local storage, aligned to more than the program asks for.
//
// Beside an audit library glibc refuses a library whose storage is aligned to more than the program's
// (runtime/inject/audit/fixed_storage.h). So the program's copy asks for as much as its libraries will. Its
// own variables stay where its code looks for them: their distance from the thread pointer is that of the
// block's start, the least one with room for it that agrees with the start's address modulo the alignment
// (ELF handling for thread-local storage, 3: variant II; glibc's _dl_determine_tlsoffset).
#pragma once

#include <cstdint>
#include <optional>

#include "loader/elf/elf_image.h"

namespace traceback::instrument {

// A block that begins so far below the thread pointer would reach into the probes' words.
inline constexpr std::uint64_t kGreatestThreadAlignment = 1024;

// What PT_TLS becomes. Of a program without such storage a new header, of a block of one byte that nobody
// uses, whose address is left to be chosen: a multiple of the alignment. Nothing if it cannot be: no power of
// two or too large, or the block's initial image would have to move.
std::optional<Elf64_Phdr> alignedThreadStorage(const loader::ElfImage& program, std::uint64_t alignment);

}  // namespace traceback::instrument
