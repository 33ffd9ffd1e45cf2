#include "runtime/inject/libc/waiting.h"

#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/clock.h"
#include "runtime/inject/rings/hold.h"
#include "runtime/inject/rings/rings.h"
#include "runtime/inject/signals/levels.h"

namespace traceback::inject {

namespace {

constexpr unsigned kMostValues = 3 + format::kMostTypeNameBytes / 8;

// Where the calling thread may write a record of that many values of its own accord; null if nowhere.
SegmentHeader* openSegment(unsigned values) {
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
  stopIfHeld(t, *segment, 1 + values * format::kWordsPerValue);
  return segment;
}

const SegmentHeader* write(format::RecordType type, std::uint16_t detail, std::uint64_t first = 0,
                           std::uint64_t second = 0, unsigned values = 1) {
  SegmentHeader* segment = openSegment(values);
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
std::uint64_t noteException(format::ExceptionDetail detail, std::uint64_t pc, std::uint64_t about,
                            const char* name) {
  SegmentHeader* segment = openSegment(kMostValues);
  if (segment == nullptr) return 0;
  std::uint64_t all[kMostValues] = {timeStamp(), pc, about};
  unsigned size = 0;
  for (; size < format::kMostTypeNameBytes && name[size] != 0; ++size)
    all[3 + size / 8] |= std::uint64_t{static_cast<unsigned char>(name[size])} << (size % 8 * 8);
  append(*segment, format::RecordType::Exception, static_cast<std::uint16_t>(detail), all,
         3 + (size + 7) / 8);
  return all[0];
}

}  // namespace traceback::inject
