#include "runtime/inject/traceback.h"

int c_snap(const char* reason) { return traceback_snap(reason); }
