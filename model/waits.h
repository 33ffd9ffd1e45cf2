// Where each thread stood when the snap was made, and what it waited for: what one wants to see of a hang.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/entry.h"
#include "model/ids.h"

namespace traceback::model {

class Trace;

struct Standing {
  ThreadIndex thread;
  std::optional<EntryIndex> at;  // its last entry that can be stood on; nothing if it recorded nothing
  // It has recorded nothing since some moment no earlier than this, and so has been there for this long at
  // the most; nothing if that is not known, or if it has ended.
  std::optional<Nanoseconds> atMost;
  std::optional<std::uint32_t> systemCall;  // the number; nothing if it was in none, or that is not known
  std::optional<SyncCause> waitsIn;  // it is in a call that it made to wait, of this kind
  std::optional<ThreadIndex> waitsFor;
  bool waitsForEnd = false;  // of that thread; else for a lock that it holds
  RuntimeAddr lock;          // where that is; 0 if not known
  bool deadlocked = false;   // it waits, in the end, for itself
};
// In the order of Trace::threads.
std::vector<Standing> standings(const Trace& trace);

// "futex", of x86-64; empty for what is not in the table of those that threads usually wait in.
std::string_view systemCallName(std::uint32_t number);

}  // namespace traceback::model
