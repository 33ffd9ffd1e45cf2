// Where additions to an ELF file go, settled before anything is emitted.
//
// A file gets one new read-execute segment, above everything it has, and its writable segment grows by the
// module's slots (format::ModuleSlots). The program header that the new segment needs is had, in this order:
//   - from a PT_NOTE that says what PT_GNU_PROPERTY says too;
//   - from a PT_NOTE with nothing but an ABI tag, probe descriptions, or (last) packaging metadata, which
//     nothing needs at run time; the section stays;
//   - by moving what lies behind the header table (notes, program interpreter, hash table, dynamic symbols),
//     which makes room for more entries: into room that is gained there, else into the new segment. The
//     table itself stays where it is, for the kernel, debuggers and strip disagree about tables elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "loader/elf/elf_image.h"
#include "model/error.h"
#include "model/ids.h"

namespace traceback::instrument {

// A stretch of the file that gives way to the growing table: sections, and headers of that very range.
struct MovedStretch {
  std::uint64_t offset = 0;         // in the file
  std::uint64_t size = 0;
  std::uint64_t alignment = 1;
  std::optional<std::int64_t> dynamicTag;  // of the dynamic entry that holds its address
  std::optional<std::uint64_t> newOffset;  // if there is room behind the table; else into the new segment
};

struct ElfPlan {
  model::VirtAddr segment;          // page-aligned
  model::VirtAddr moduleSlots;            // 8-aligned, zero at start, writable, outside of PT_GNU_RELRO
  std::uint64_t slotsSize = 0;
  std::size_t writableHeader = 0;   // the PT_LOAD that grows
  std::optional<std::size_t> spareHeader;  // the PT_NOTE that gives way; else the table grows
  std::vector<MovedStretch> moved;         // then
  // What PT_TLS becomes, or a new one that leads to the new segment's start (thread_storage.h).
  std::optional<Elf64_Phdr> threadStorage;
};

inline constexpr std::uint64_t kPageSize = 0x1000;

// Fails, with the reason, on files that cannot get a segment: no writable segment to grow, no header to be
// had, addresses at or above 2 GiB, data appended behind the ELF file (which the program may look for from
// the end), relocatable files and core dumps.
//
// `threadAlignment`: what the thread-local storage of a program is to be aligned to, if it can be; 0: as it
// is.
model::Result<ElfPlan> planAdditions(const loader::ElfImage& image, std::uint64_t slotsSize,
                                     std::uint64_t threadAlignment = 0);

}  // namespace traceback::instrument
