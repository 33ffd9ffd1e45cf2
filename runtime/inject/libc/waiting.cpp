#include "runtime/inject/libc/waiting.h"

#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/clock.h"
#include "runtime/inject/rings/hold.h"
#include "runtime/inject/rings/rings.h"
#include "runtime/inject/signals/levels.h"

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
  if (segment != segmentOf(t, t.level)) return nullptr;
  constexpr unsigned kMostWords = 1 + 3 * format::kWordsPerValue;
  stopIfHeld(t, *segment, kMostWords);
  return segment;
}

const SegmentHeader* write(format::RecordType type, std::uint16_t detail, std::uint64_t first = 0,
                           std::uint64_t second = 0, unsigned values = 1) {
  SegmentHeader* segment = openSegment();
  if (segment == nullptr) return nullptr;
  const std::uint64_t all[] = {timeStamp(), first, second};
  append(*segment, type, detail, all, values);
  return segment;
}

}  // namespace

const SegmentHeader* noteReading() { return write(format::RecordType::Timestamp, 0); }
const SegmentHeader* noteSync(format::SyncKind kind, const void* object) {
  return write(format::RecordType::Sync, static_cast<std::uint16_t>(kind),
               reinterpret_cast<std::uint64_t>(object), 0, 2);
}
void noteSnap(std::uint16_t reason) { write(format::RecordType::Snap, reason); }
void noteException(std::uint64_t pc, const void* type) {
  write(format::RecordType::Exception, 0, pc, reinterpret_cast<std::uint64_t>(type), 3);
}

}  // namespace traceback::inject
