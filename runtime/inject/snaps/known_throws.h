// When exceptions were thrown that are there still, for those that are thrown again from a
// std::exception_ptr, by whatever thread.
#pragma once

#include <cstdint>

namespace traceback::inject {

// `object` of that type is thrown now; `time` is that in its record, 0 if it has none.
void rememberTimeOfThrow(const void* object, const void* type, std::uint64_t time);

// Its type-info, as the C++ library keeps it before the object.
const void* typeOfException(const void* object);

// The time in its record; 0 if it has none, was made without a throw, or too many were thrown since.
std::uint64_t timeOfThrow(const void* object);

}  // namespace traceback::inject
