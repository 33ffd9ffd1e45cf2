// An ELF core file (elf(5)) of a snap, for debuggers that know nothing of us.
//
// It is as if the original program had left it: program counters and the return addresses on the stacks that
// lead into copies lead to the originals' instructions instead, and files go by the originals' names. A
// copy's frames are laid out as the original's are, so a debugger unwinds them by the original's tables. Only
// what the snap kept of the memory is in it; what was mapped from files and not changed a debugger reads from
// these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "loader/core/recorded_process.h"
#include "model/error.h"

namespace traceback::loader {

// What had to be left as it was, for the user to be told.
struct CoreReport {
  std::size_t threads = 0;
  std::size_t unknownPlaces = 0;  // threads that stand in a copy whose map is missing
  std::size_t withoutStacks = 0;  // threads of whose stack nothing was kept
  std::uint64_t damagedMemory = 0;  // parts of memory that could not be read, and are left out
};

// Takes the file's next bytes; false ends the writing.
using WriteBytes = std::function<bool(std::span<const std::byte>)>;

// Fails if the snap has no thread's registers, or the bytes were not taken. Holds one block of memory at a
// time.
model::Result<CoreReport> writeCore(const RecordedProcess& process, const WriteBytes& write);

}  // namespace traceback::loader
