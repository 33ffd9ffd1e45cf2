// What addresses in bound modules stand for.
#pragma once

#include <cstdint>

#include "runtime/format/module.h"

namespace traceback::inject {

// The original address for one in a copy; the address itself for any other.
std::uint64_t originalAddress(std::uint64_t address);
// The same for where a call returns to: what follows the call in the copy may stand for anything.
std::uint64_t originalReturnAddress(std::uint64_t address);

// The routine that has an address: one of the three, or none.
struct RoutineAt {
  const format::RecordRoutine* record = nullptr;
  const format::BitRoutine* bit = nullptr;
  const format::LoadRoutine* load = nullptr;
  std::uint64_t start = 0;  // in the process
};
RoutineAt routineAt(std::uint64_t address);

}  // namespace traceback::inject
