// Environment variables, as the entries NAME=value.
#pragma once

namespace traceback::inject {

// The value if `entry` is NAME=value, else null.
char* valueOf(char* entry, const char* name);

// Takes the entries that are `own` out of a list as LD_PRELOAD is (ld.so(8)), in place. False if none is
// left.
bool removeFromList(char* value, const char* own);

}  // namespace traceback::inject
