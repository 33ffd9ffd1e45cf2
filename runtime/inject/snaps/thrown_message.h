// What the exceptions say that are thrown, read from their memory alone (text_places.h).
#pragma once

#include <cstdint>

#include "runtime/format/process.h"

namespace traceback::inject {

// `object` is thrown now; `type` is its type-info and `time` that in its record, 0 if it has none. Keeps what
// it says (thrown_texts.h), unless the process is to keep none of its memory.
void rememberThrown(const void* object, const void* type, std::uint64_t time);

// What the calling thread threw last says now, into the file of a process that it aborts, for others may have
// thrown much since. It stays as it is where nothing was said.
void copyThrownMessage(format::ProcessHeader& file);

}  // namespace traceback::inject
