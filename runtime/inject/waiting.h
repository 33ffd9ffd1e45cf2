// Clock readings around calls that wait, so that threads can be ordered (model/order.h).
#pragma once

#include <cstdint>

#include "runtime/format/wait.h"

namespace traceback::inject {

// While it lives the thread is in a call that may wait: its ring has a reading from before the call, and one
// from after it. Writes nothing where the thread records nothing. Only where a function was called, so that
// no DAG is open.
class Waiting {
 public:
  // With a Sync record: a call that is made to wait.
  Waiting(format::WaitKind kind, const void* object);
  // With readings alone: one that happens to.
  Waiting();
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
};

// A point of synchronisation that nobody waits for.
void noteSync(format::SyncKind kind, const void* object);
// A reading alone.
void noteReading();
// That a snap is made now; `reason` is of format::SnapReason.
void noteSnap(std::uint16_t reason);
// That an exception is thrown, at an address in the process.
void noteException(std::uint64_t pc, const void* type);

}  // namespace traceback::inject
