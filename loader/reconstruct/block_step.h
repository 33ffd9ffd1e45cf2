// What ran, below the level of lines: the plain sequence of a thread's blocks.
#pragma once

#include <cstdint>

#include "model/ids.h"

namespace traceback::loader {

struct BlockStep {
  model::ModuleId module;
  model::VirtAddr start;    // link-time address in the original file
  std::uint32_t size = 0;   // original bytes that ran from there
  bool faulted = false;     // the instruction at start + size was begun as well, and faulted
  bool open = false;        // begun; how much of it ran is not known
  bool afterGap = false;    // it is not known what ran before it

  friend bool operator==(const BlockStep&, const BlockStep&) = default;
};

}  // namespace traceback::loader
