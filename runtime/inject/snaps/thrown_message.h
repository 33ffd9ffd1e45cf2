// What the exception says that a thread has thrown last, for the case that nobody catches it.
//
// Read from its memory alone, for what() may be the program's: of a std::string and a const char*, and of
// classes that have what() from std::runtime_error or std::logic_error. Both libstdc++ and libc++ keep the
// text's address right behind that of the virtual functions (Itanium C++ ABI, 2.5: what() is the third). Of
// libstdc++'s classes with a what() of their own, too, whose layout is part of its binary interface.
#pragma once

#include <cstdint>

#include "runtime/format/process.h"

namespace traceback::inject {

// Looks up whose what() is known, in GCC's library or another one. As findThrow().
void findKnownWhats(bool isGccs);

// `object` is thrown now; `type` is its type-info and `time` that in its record, 0 if it has none.
void rememberThrown(const void* object, const void* type, std::uint64_t time);

// Into the file of a process that this thread aborts. It stays as it is where nothing was said.
void copyThrownMessage(format::ProcessHeader& file);

}  // namespace traceback::inject
