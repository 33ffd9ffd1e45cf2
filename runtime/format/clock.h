// The clock that a process's times in ticks are from. It stands at the start of ProcessHeader::reserved, and
// is all zero where an older runtime wrote the file: it had the counter alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/format/process.h"

namespace traceback::format {

enum class ClockKind : std::uint32_t {
  Counter = 0,  // the processors' time stamp counter
  Logical = 1,  // logicalTime: each reading adds one to it, so it orders readings but tells no time
};

struct ProcessClock {
  std::uint64_t logicalTime;
  std::uint32_t kind;  // ClockKind
  std::uint32_t reserved;
};
static_assert(sizeof(ProcessClock) == 16 && offsetof(ProcessHeader, reserved) % alignof(ProcessClock) == 0);

inline ProcessClock& clockIn(ProcessHeader& header) {
  return reinterpret_cast<ProcessClock&>(header.reserved);
}
inline const ProcessClock& clockIn(const ProcessHeader& header) {
  return reinterpret_cast<const ProcessClock&>(header.reserved);
}

}  // namespace traceback::format
