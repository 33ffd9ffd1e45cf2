// Files that are left alone as a whole, because something about them depends on where their code is or on
// what its bytes are.
#pragma once

#include <string_view>

#include "instrument/analysis/program.h"
#include "model/error.h"
#include "runtime/format/ring.h"

namespace traceback::instrument {

bool isInstrumented(const loader::ElfImage& image);

// Where probes find their thread's ring in the file's process, if it is a program (runtime/format/ring.h); of
// a library, where they usually do. 0: nowhere, for it has too much thread-local storage.
std::int32_t threadSlotBeside(const loader::ElfImage& image);

// By what the file says about itself. Refuses, with the reason:
//   what is no program or library: object files and kernel modules (ET_REL), core files (ET_CORE)
//   what is instrumented already
//   static programs, static-pie among them: nothing would load the recorder
//   the dynamic loader, the vDSO, the recorder itself
//   code that is changed as it is loaded (DT_TEXTREL), or can be (writable segments)
//   programs that do not leave that thread slot free
//   Go (its tables are keyed by return address): .note.go.buildid, .gopclntab, .go.buildinfo or its magic
//   OCaml (likewise) and Haskell (tables between its code): symbols of their runtime systems
//   code that is checked against a digest of itself: OpenSSL's FIPS provider, a note of type 0xcafe2a8e by
//   "FDO" (libgcrypt), and any file beside which lies its .hmac (fipscheck, libkcapi) or .chk (NSS)
model::Result<void> checkFile(const loader::ElfImage& image, std::int32_t threadSlot = format::kThreadSlot);

// By its code, which tells also where no name does. Refuses:
//   files whose data has the return addresses of many calls: tables that a runtime system finds by where
//   calls return to (OCaml, and whatever else collects garbage so) files most of whose code has no unwind
//   tables (Haskell, Go, Pascal): next to nothing would be recorded
model::Result<void> checkCode(const Program& program);

}  // namespace traceback::instrument
