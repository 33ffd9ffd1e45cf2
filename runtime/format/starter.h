// The starter: how an instrumented program finds the runtime when nobody else has loaded it.
//
// The section `.traceback.start`, in the segment that instrumentation adds to a program:
//
//   StarterHeader | code, which needs no relocation and is entered at its first byte
//
// The dynamic linker calls it as the only function of the program's DT_PREINIT_ARRAY (gABI, chapter 5):
// after everything is loaded and relocated, before any constructor. If no runtime has bound the program
// and the one that is named here can be opened, it executes the program once more with that runtime in
// LD_PRELOAD: only a library that is loaded with the program can have its thread-local words at the place
// that the probes know, and stand before libc. In every other case it does nothing, and the program runs
// untraced.
//
// The environment variables that it looks at:
//   TRACEBACK=off            nothing is done
//   TRACEBACK_RUNTIME        absolute path of the runtime, instead of the recorded one
//   TRACEBACK_STARTED        "PID:NAME", from the first execution to the second: that it was tried, and the
//                            process's name (PR_SET_NAME) to go back to. Taken out again.
// With AT_SECURE set it does nothing whatever the environment says. Nor if the process began elsewhere: of an
// object that is opened later (dlopen(3)) the linker calls these functions too.
#pragma once

#include <cstdint>

namespace traceback::format {

inline constexpr std::uint64_t kStarterMagic = 0x0A0D'5254'5342'5454;  // "TTBSTR\r\n"
inline constexpr std::uint32_t kStarterVersion = 2;
inline constexpr char kStarterSection[] = ".traceback.start";

struct StarterHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t headerSize;
  std::int64_t moduleSlots;  // distance from this header to the ModuleSlots
  std::int64_t entry;  // and to where the program begins (e_entry)
  std::uint8_t runtime[992];  // absolute path of libtraceback.so, zero-terminated
};
static_assert(sizeof(StarterHeader) == 1024);

}  // namespace traceback::format
