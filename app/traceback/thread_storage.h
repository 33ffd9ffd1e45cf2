// Thread-local storage of a program and its libraries, beside which the runtime's has to have a place
// (runtime/format/ring.h, runtime/inject/audit/fixed_storage.h).
#pragma once

#include <cstdint>
#include <string>

#include "app/traceback/loaded_files.h"

namespace traceback::app {

// Where the copies of a program's process find their thread's segment (instrument::Options::threadSlot), as
// the program leaves room for it; where they usually do, if it cannot be read.
std::int32_t threadSlotIn(const std::filesystem::path& program);

// What the program's own must be aligned to for that (instrument::Options::threadAlignment); 0: nothing is to
// be changed.
std::uint64_t threadAlignmentFor(const LoadedFiles& loaded);

// Why nothing of the program is recorded under `run`: a library whose storage the dynamic linker would refuse
// there. Empty if there is none. `alignment`: what a copy of the program is made with; 0: the program's own.
std::string refusalOf(const LoadedFiles& loaded, std::uint64_t alignment);

}  // namespace traceback::app
