// The part of findLibc() that belongs to waits.cpp.
#pragma once

namespace traceback::inject {

// `lookUp` takes a function's name and two versions of it, the second of which may be null.
void findWaits(void* (*lookUp)(const char* name, const char* version, const char* older));

}  // namespace traceback::inject
