// Light or dark colours where the user asks for them rather than for the desktop's.
#pragma once

#include "app/viewer/options.h"

namespace traceback::app {

void useColorScheme(ColorScheme scheme);

}  // namespace traceback::app
