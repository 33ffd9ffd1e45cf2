// Where the exceptions of a type have the text that they say: what what() returns, found without calling it,
// for it may be the program's.
//
// Known are a std::string and a const char* themselves; what() of std::runtime_error and std::logic_error
// (both libstdc++ and libc++ keep the text's address right behind that of the virtual functions) and of
// libstdc++'s classes with one of their own, whose layout is part of its binary interface; and each what() of
// which the module table says how it finds its text (TextGetter, runtime/format/module.h).
#pragma once

#include <cstdint>

#include "runtime/format/module.h"

namespace traceback::inject {

struct TextPlace {
  std::uint64_t constant = 0;  // the text's address itself; 0: it is got as a TextGetter has it
  std::int16_t offsets[format::TextGetter::kMostLoads + 1] = {};
  std::uint8_t loads = 0;
  // A class of the library's keeps the text, or it is a constant: as long as the object is there it can be
  // read.
  bool isKept = false;

  bool isKnown() const { return constant != 0 || loads != 0 || offsets[0] != 0; }
};

// Looks up whose what() is known, in GCC's library or another one. As findThrow().
void findKnownWhats(bool isGccs);

// Of an object that was thrown, of a type in a loaded file. What was found is remembered by type; to look for
// it takes system calls, and does not happen where the process has given up these.
TextPlace textPlaceOf(std::uint64_t object, std::uint64_t type);

}  // namespace traceback::inject
