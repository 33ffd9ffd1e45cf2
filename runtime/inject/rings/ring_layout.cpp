#include "runtime/inject/rings/ring_layout.h"

#include <linux/prctl.h>

#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/clock.h"
#include "runtime/inject/rings/ring_history.h"
#include "runtime/inject/rings/ring_memory.h"
#include "runtime/inject/rings/segment.h"

namespace traceback::inject {

namespace {

struct Layout {
  std::uint32_t subBufferWords, subBufferCount;
  std::uint64_t bytes(std::uint32_t subBuffers) const {
    return std::uint64_t{subBufferWords} * subBuffers * sizeof(Word);
  }
  std::uint64_t bytes() const { return bytes(subBufferCount); }
};

// Few threads have handlers, and the first sub-buffers take memory all the same: so they are small.
constexpr Layout kHandlers{8192 / sizeof(Word), 8};

Layout mainLayout() {
  constexpr std::uint64_t kDefault = 1 << 20, kLeast = 1 << 16, kMost = 1 << 30, kPage = 4096;
  constexpr std::uint32_t kCount = 16;
  std::uint64_t bytes = process.environment.bufferSize;
  if (bytes == 0) bytes = kDefault;
  if (bytes < kLeast) bytes = kLeast;
  if (bytes > kMost) bytes = kMost;
  const std::uint64_t each = (bytes / kCount + kPage - 1) / kPage * kPage;
  return {static_cast<std::uint32_t>(each / sizeof(Word)), kCount};
}

Layout layoutOf(unsigned segment) { return segment == 0 ? mainLayout() : kHandlers; }

// In the file; of kMaxSegments, where the last one ends.
std::uint64_t offsetOf(unsigned segment) {
  if (segment == 0) return format::kRingHeaderSize;
  return format::kRingHeaderSize + mainLayout().bytes() + (segment - 1) * kHandlers.bytes();
}

}  // namespace

std::uint64_t ringSize() { return offsetOf(format::kMaxSegments) + chosenHistorySize(); }

bool beginMemory(Ring& ring) {
  auto* const base = reinterpret_cast<std::uint8_t*>(ring.header);
  for (unsigned i = 0; i < format::kMaxSegments; ++i)
    if (!bringIn(ring, base + offsetOf(i), layoutOf(i).bytes(kFirstSubBuffers))) return false;
  if (!beginHistoryMemory(ring)) return false;
  if (memoryOf(ring) == Ring::Memory::None) setMemory(ring, Ring::Memory::Begun);
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
    const Layout layout = layoutOf(i);
    startSegment(header.segments[i], reinterpret_cast<Word*>(base + offsetOf(i)), layout.subBufferWords,
                 layout.subBufferCount, offsetOf(i));
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
