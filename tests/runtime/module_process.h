// The process file's table of modules, as modules.cpp finds it when it runs in a test's own process.
#pragma once

#include <vector>

#include "runtime/format/process.h"

namespace traceback::testing {

// Of all that were bound or looked at.
std::vector<format::ProcessModule> modules();
void forgetModules();

// What modules.cpp told of the program as it bound the first module, since somebody last asked: whether that
// is known already.
std::vector<bool> toldOfTheProgram();

}  // namespace traceback::testing
