// The functions by which exceptions say what they have to say, as far as all they do is to hand out a text:
// for the runtime, which does not call them.
#pragma once

#include <vector>

#include "instrument/analysis/program.h"
#include "runtime/format/module.h"

namespace traceback::instrument {

// The third virtual functions of all classes, which is what() of those derived from std::exception (Itanium
// C++ ABI, 2.5), as far as they are getters (getter.h). By address.
std::vector<format::TextGetter> findTextGetters(const Program& program);

}  // namespace traceback::instrument
