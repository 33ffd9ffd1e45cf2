// Classes of C++ exceptions, by the run-time type information of the Itanium C++ ABI (section 2.9.5): read
// from memory alone, whichever C++ library made it.
#pragma once

#include <cstdint>

#include "runtime/inject/kernel/system.h"

namespace traceback::inject {

using ClassName = Text<256>;

// Where its name stands, as it is in the object file.
const char* nameInFileOf(const void* type);

// The name itself (Itanium C++ ABI, 5.1.5).
const char* mangledNameOf(const void* type);

// The name of a type as people write it, without inline namespaces and template arguments:
// "std::out_of_range", "int". As it stands in the object file where it is none of these. Whether that says
// all of it, template arguments and the like included.
bool nameOfType(const void* type, ClassName& name);

// Calls `visit` with the type and with each class that it is derived from, until one call is true. True if
// one was.
bool anyOfItsClasses(const void* type, bool (*visit)(const void* type, void* data), void* data);

// Where in an object of the type its part of a class is, by that one's mangled name; -1 if it is not derived
// from it, or by a virtual base. Of several parts the first.
std::int64_t offsetOfClass(const void* type, const char* mangled);

}  // namespace traceback::inject
