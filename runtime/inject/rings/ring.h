// A ring of the process (runtime/format/ring.h).
#pragma once

#include <cstdint>

#include "runtime/format/ring.h"

namespace traceback::inject {

struct Ring {
  format::RingHeader* header;
  std::uint64_t size;
  std::uint64_t historySize;  // of the coarse history, which is the last part of it; 0: none is kept
  std::uint32_t nameTid,
      number;  // the file's name: of the thread that it was made for, 0 if for none; counts
  std::uint32_t tid;
  std::uint32_t order;  // in which threads took theirs
  bool historyIsThere;  // the memory of its coarse history
  // That of its file. Begun: what a thread needs that begins to write (ring_layout.h).
  enum class Memory : std::uint32_t { None, Begun, Whole } memory;
  std::uint32_t frontless;  // a bit for each segment whose first sub-buffers have memory at their ends alone
  // Of a thread that ended: to be looked at, and mapped as long as `header` is not null. Reserved: of none
  // yet.
  enum class Use : std::uint32_t { Free, Making, Reserved, Live, Ended } use;
};

}  // namespace traceback::inject
