// C++ names for people. The one place where names are demangled.
#pragma once

#include <string>
#include <string_view>

namespace traceback::model {

// The name as it is in the source; the name as given if it is not a mangled one (Itanium C++ ABI, 5.1), or is
// too long to be trusted with a demangler that recurses. Versions behind '@' and clone suffixes are kept.
std::string demangle(std::string_view name);

// The same of a type's name, which is mangled without the "_Z" that is expected here in front of it.
std::string demangleType(std::string_view name);

}  // namespace traceback::model
