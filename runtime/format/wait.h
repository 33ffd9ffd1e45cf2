// Calls that are made to wait, in Sync records: details beyond those of SyncKind (record.h). A thread writes
// the record (time, address of the object) before it makes the call, and reads the clock again behind it.
// Calls of locks, condition variables and semaphores that happen to wait, or to let somebody go on, leave
// readings alone.
#pragma once

#include <cstdint>

#include "runtime/format/record.h"

namespace traceback::format {

enum class WaitKind : std::uint16_t {
  ThreadJoin = static_cast<std::uint16_t>(SyncKind::ThreadJoin),
  Condition = 4,  // object: the condition variable
  Barrier = 5,    // object: the barrier
  Sleep = 6,      // a stated time, or until a signal
  Poll = 7,       // for events of descriptors: poll, select, epoll_wait, accept
  Child = 8,      // for a child process
};

}  // namespace traceback::format
