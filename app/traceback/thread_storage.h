// Thread-local storage of a program's libraries, which has to have a place beside the runtime's
// (runtime/inject/audit/fixed_storage.h).
#pragma once

#include <cstdint>
#include <string>

#include "app/traceback/loaded_files.h"

namespace traceback::app {

// What the program's own must be aligned to for that (instrument::Options::threadAlignment); 0: nothing is to
// be changed.
std::uint64_t threadAlignmentFor(const LoadedFiles& loaded);

// The first library whose storage the dynamic linker would refuse where it records; empty if none.
// `programIsCopied`: the program is one that an instrumented copy can be, and is to be, made of.
std::string refusedBeside(const LoadedFiles& loaded, bool programIsCopied);

}  // namespace traceback::app
