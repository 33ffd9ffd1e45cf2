// What the window gets from the loader.
#pragma once

#include "app/viewer/main_window.h"

namespace traceback::app {

Services loaderServices();

}  // namespace traceback::app
