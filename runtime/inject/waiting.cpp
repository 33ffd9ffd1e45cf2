#include "runtime/inject/waiting.h"

#include "runtime/inject/clock.h"
#include "runtime/inject/levels.h"
#include "runtime/inject/process.h"
#include "runtime/inject/rings.h"

namespace traceback::inject {

namespace {

// Where the calling thread may write a record of its own accord; null if nowhere.
SegmentHeader* openSegment() {
  if (inForkedChild()) return nullptr;
  Thread& t = thread();
  if (t.state != ThreadState::Traced) return nullptr;
  if (t.level != 0) {
    if (t.level >= format::kMaxSegments) return nullptr;
    leaveAbandonedLevels(t, reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)));
    if (t.level >= format::kMaxSegments) return nullptr;
  }
  SegmentHeader* segment = slot();
  // Somebody waits for this thread's next head: nothing goes over its mark.
  if (segment != segmentOf(t, t.level) || isCalledAtNextHead(*segment)) return nullptr;
  return segment;
}

void write(format::RecordType type, std::uint16_t detail, const void* object, unsigned values) {
  SegmentHeader* segment = openSegment();
  if (segment == nullptr) return;
  const std::uint64_t all[] = {timeStamp(), reinterpret_cast<std::uint64_t>(object)};
  append(*segment, type, detail, all, values);
}

}  // namespace

void noteReading() { write(format::RecordType::Timestamp, 0, nullptr, 1); }
void noteSync(format::SyncKind kind, const void* object) {
  write(format::RecordType::Sync, static_cast<std::uint16_t>(kind), object, 2);
}

Waiting::Waiting(format::WaitKind kind, const void* object) {
  noteSync(static_cast<format::SyncKind>(kind), object);
}
Waiting::Waiting() { noteReading(); }
Waiting::~Waiting() { noteReading(); }

}  // namespace traceback::inject
