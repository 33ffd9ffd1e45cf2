// The whole way once, on a small program: record it, look at what the runtime made of it, snap it.
#pragma once

#include <vector>

#include "app/traceback/diagnosis.h"
#include "app/traceback/installation.h"

namespace traceback::app {

std::vector<Finding> recordAndSnap(const Installation& installation);

}  // namespace traceback::app
