// Clock readings around calls that wait, so that threads can be ordered (model/order.h).
#pragma once

#include <cstdint>

#include "runtime/format/wait.h"
#include "runtime/inject/rings/rings.h"
#include "runtime/inject/rings/segment.h"
#include "runtime/inject/rings/thread.h"

namespace traceback::inject {

// What the next record of a thread is written by, each part of it found by the one before. While a thread
// waits others fill the processor's caches; behind the wait all parts are asked for at once.
class RecordPlace {
 public:
  explicit RecordPlace(const SegmentHeader* segment) : m_segment(segment) {
    if (segment == nullptr) return;
    m_thread = &thread();
    m_ring = m_thread->ring;
    m_cursor = cursorOf(*segment);
  }
  void fetch() const {
    if (m_segment == nullptr) return;
    __builtin_prefetch(&m_thread->state);
    __builtin_prefetch(m_ring);
    __builtin_prefetch(m_segment);
    __builtin_prefetch(m_cursor + 1);
    __builtin_prefetch(m_cursor + kLineWords);
    __builtin_prefetch(m_cursor + 2 * kLineWords);
  }

 private:
  static constexpr unsigned kLineWords = 64 / sizeof(Word);
  const SegmentHeader* m_segment;
  const Thread* m_thread = nullptr;
  const Ring* m_ring = nullptr;
  const Word* m_cursor = nullptr;
};

// A point of synchronisation that nobody waits for. Returns where it was noted; null if nowhere.
const SegmentHeader* noteSync(format::SyncKind kind, const void* object);
// A reading alone; as above.
const SegmentHeader* noteReading();

// While it lives the thread is in a call that may wait: its ring has a reading from before the call, and one
// from after it. Writes nothing where the thread records nothing. Only where a function was called, so that
// no DAG is open.
class Waiting {
 public:
  // With a Sync record: a call that is made to wait.
  Waiting(format::WaitKind kind, const void* object)
      : m_place(noteSync(static_cast<format::SyncKind>(kind), object)) {}
  // With readings alone: one that happens to.
  Waiting() : m_place(noteReading()) {}
  ~Waiting() {
    m_place.fetch();
    noteReading();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  RecordPlace m_place;
};

// That a snap is made now; `reason` is of format::SnapReason.
void noteSnap(std::uint16_t reason);
// That an exception is thrown, at an address in the process. The time in the record; 0 if there is none.
// `about` is as the detail has it; `name` is the type's, as kMostTypeNameBytes has it; empty if that cannot
// be read.
std::uint64_t noteException(format::ExceptionDetail detail, std::uint64_t pc, std::uint64_t about,
                            const char* name);

}  // namespace traceback::inject
