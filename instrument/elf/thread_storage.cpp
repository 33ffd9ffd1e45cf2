#include "instrument/elf/thread_storage.h"

#include <algorithm>
#include <bit>

#include "instrument/rounding.h"
#include "runtime/format/ring.h"

namespace traceback::instrument {

std::optional<Elf64_Phdr> alignedThreadStorage(const loader::ElfImage& program, std::uint64_t alignment) {
  if (!std::has_single_bit(alignment) || alignment > kGreatestThreadAlignment) return {};
  const Elf64_Phdr* storage = program.segment(PT_TLS);
  if (storage == nullptr) {
    Elf64_Phdr added{};
    added.p_type = PT_TLS;
    added.p_flags = PF_R;
    added.p_memsz = 1;
    added.p_align = alignment;
    return added;
  }
  Elf64_Phdr changed = *storage;
  if (storage->p_align >= alignment) return changed;
  const std::uint64_t unit = std::max<std::uint64_t>(storage->p_align, 1);
  if (storage->p_memsz == 0 || !std::has_single_bit(unit) || storage->p_vaddr % unit != 0) return {};
  const std::uint64_t distance = roundedUp(storage->p_memsz, unit);
  const std::uint64_t back = (storage->p_vaddr + distance) % alignment;
  // All that know the program by its original have to find the same slot.
  if (format::threadSlotBeside(storage->p_memsz, alignment) !=
      format::threadSlotBeside(storage->p_memsz, storage->p_align))
    return {};
  // Only an address that nothing is read from may be another one.
  if (back != 0 && storage->p_filesz != 0) return {};
  if (back > storage->p_vaddr || back > storage->p_offset) return {};
  changed.p_vaddr -= back;
  changed.p_paddr = changed.p_vaddr;
  changed.p_offset -= back;
  changed.p_align = alignment;
  return changed;
}

}  // namespace traceback::instrument
