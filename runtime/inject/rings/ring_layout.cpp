#include "runtime/inject/rings/ring_layout.h"

#include <linux/prctl.h>

#include "runtime/inject/kernel/system.h"
#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/clock.h"
#include "runtime/inject/rings/ring_history.h"
#include "runtime/inject/rings/ring_memory.h"
#include "runtime/inject/rings/segment.h"

namespace traceback::inject {

namespace {

// Few threads have handlers, and the first sub-buffers take memory all the same: so they are small.
constexpr SubBuffers kHandlers{8192 / sizeof(Word), 8};

SubBuffers mainSubBuffers() {
  constexpr std::uint64_t kDefault = 1 << 20, kLeast = 1 << 16, kMost = 1 << 30;
  constexpr std::uint32_t kLeastCount = 16;
  std::uint64_t bytes = process.environment.bufferSize;
  if (bytes == 0) bytes = kDefault;
  if (bytes < kLeast) bytes = kLeast;
  if (bytes > kMost) bytes = kMost;
  std::uint64_t each = (bytes / kLeastCount + kPage - 1) / kPage * kPage;
  if (each > format::kWindowSize) each = format::kWindowSize;
  return {static_cast<std::uint32_t>(each / sizeof(Word)),
          static_cast<std::uint32_t>((bytes + each - 1) / each)};
}

SubBuffers subBuffersOf(unsigned segment) { return segment == 0 ? mainSubBuffers() : kHandlers; }
std::uint64_t bytesOf(SubBuffers each) { return each.words * sizeof(Word); }

// In the file, which is mapped at a window's front; one for each sub-buffer, which it ends with. The header
// has the first. Of kMaxSegments, the one behind the last.
std::uint64_t firstWindowOf(unsigned segment) {
  return 1 + (segment == 0 ? 0 : mainSubBuffers().count + std::uint64_t{segment - 1} * kHandlers.count);
}
std::uint64_t offsetOf(unsigned segment, std::uint32_t subBuffer) {
  return (firstWindowOf(segment) + subBuffer + 1) * format::kWindowSize - bytesOf(subBuffersOf(segment));
}

// Of each the last words.
bool bringInSubBuffers(const Ring& ring, unsigned segment, std::uint32_t most, std::uint32_t words) {
  auto* const base = reinterpret_cast<std::uint8_t*>(ring.header);
  const SubBuffers subBuffers = subBuffersOf(segment);
  const std::uint32_t skipped = words < subBuffers.words ? subBuffers.words - words : 0;
  for (std::uint32_t i = 0; i < subBuffers.count && i < most; ++i)
    if (!bringIn(ring, base + offsetOf(segment, i) + skipped * sizeof(Word),
                 (subBuffers.words - skipped) * sizeof(Word)))
      return false;
  return true;
}

bool bringInFirst(const Ring& ring) {
  for (unsigned i = 0; i < format::kMaxSegments; ++i)
    if (!bringInSubBuffers(ring, i, kFirstSubBuffers,
                           isFrontless(ring.frontless, i) ? kFirstWords : UINT32_MAX))
      return false;
  return true;
}

bool bringInAll(const Ring& ring) {
  for (unsigned i = 0; i < format::kMaxSegments; ++i)
    if (!bringInSubBuffers(ring, i, UINT32_MAX, UINT32_MAX)) return false;
  return true;
}

}  // namespace

std::uint64_t ringSize() {
  return firstWindowOf(format::kMaxSegments) * format::kWindowSize + chosenHistorySize();
}

std::uint64_t ringMemory() {
  std::uint64_t bytes = format::kRingHeaderSize + chosenHistorySize();
  for (unsigned i = 0; i < format::kMaxSegments; ++i)
    bytes += bytesOf(subBuffersOf(i)) * subBuffersOf(i).count;
  return bytes;
}

bool beginMemory(Ring& ring) {
  if (!bringInFirst(ring) || !beginHistoryMemory(ring)) return false;
  if (memoryOf(ring) == Ring::Memory::None) setMemory(ring, Ring::Memory::Begun);
  return true;
}

bool bringInWhole(Ring& ring) {
  if (memoryOf(ring) == Ring::Memory::Whole) return true;
  if (!bringInAll(ring) || !bringInHistory(ring)) return false;
  setMemory(ring, Ring::Memory::Whole);
  return true;
}

void startRing(Ring& ring, bool late) {
  format::RingHeader& header = *ring.header;
  // The file may have been another thread's: it is no ring while it is made.
  __atomic_store_n(&header.magic, std::uint64_t{0}, __ATOMIC_RELEASE);
  memset(&header, 0, sizeof header);
  header.version = format::kRingVersion;
  header.headerSize = format::kRingHeaderSize;
  header.pid = process.pid;
  header.tid = ring.tid;
  header.processStart = process.start;
  const std::uint64_t now = timeStamp();
  header.threadStart = late ? 0 : now;
  header.state = static_cast<std::uint32_t>(format::RingState::InUse);
  header.segmentCount = format::kMaxSegments;
  if (!process.sandboxed) systemCall(__NR_prctl, PR_GET_NAME, asLong(header.name));
  auto* base = reinterpret_cast<std::uint8_t*>(ring.header);
  for (unsigned i = 0; i < format::kMaxSegments; ++i) {
    const std::uint64_t offset = offsetOf(i, 0);
    startSegment(header.segments[i], reinterpret_cast<Word*>(base + offset), subBuffersOf(i), offset,
                 isFrontless(ring.frontless, i));
  }
  startHistory(ring);
  const std::uint64_t values[] = {now, ring.tid};
  if (late) {
    append(header.segments[0], format::RecordType::Gap, static_cast<std::uint16_t>(format::GapReason::NoRing),
           values, 1);
  } else {
    append(header.segments[0], format::RecordType::ThreadStart, 0, values, 2);
  }
  __atomic_store_n(&header.magic, format::kRingMagic, __ATOMIC_RELEASE);
}

}  // namespace traceback::inject
