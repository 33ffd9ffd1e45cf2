#include "runtime/inject/rings/ring_memory.h"

#include "runtime/inject/kernel/system.h"
#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/ring_file.h"
#include "runtime/inject/rings/thread.h"

namespace traceback::inject {

namespace {

// Has pages that are there mapped now, rather than one by one within probes: while one waits for its page,
// another thread that has the same ring (sharing.h) might step the cursor over words that nobody has written.
void touch(void* start, std::uint64_t size) {
  auto* const bytes = static_cast<std::uint8_t*>(start);
  for (std::uint64_t at = 0; at < size; at += kPage)
    __atomic_fetch_or(bytes + at, std::uint8_t{0}, __ATOMIC_RELAXED);
}

unsigned indexOf(const Ring& ring, const SegmentHeader& segment) {
  return static_cast<unsigned>(&segment - ring.header->segments);
}

}  // namespace

Ring::Memory memoryOf(const Ring& ring) { return __atomic_load_n(&ring.memory, __ATOMIC_RELAXED); }
void setMemory(Ring& ring, Ring::Memory memory) {
  __atomic_store_n(&ring.memory, memory, __ATOMIC_RELAXED);
  if (memory == Ring::Memory::Begun) return;
  const std::uint32_t all = (1U << format::kMaxSegments) - 1;
  __atomic_store_n(&ring.frontless, memory == Ring::Memory::None ? all : 0, __ATOMIC_RELAXED);
}

bool bringIn(const Ring& ring, void* start, std::uint64_t size) {
  if (memoryOf(ring) != Ring::Memory::Whole) return !process.sandboxed && allocateMapped(start, size);
  touch(start, size);
  return true;
}

bool lacksFronts(const SegmentHeader& segment) {
  const Ring& ring = *thread().ring;
  return isFrontless(__atomic_load_n(&ring.frontless, __ATOMIC_RELAXED), indexOf(ring, segment)) &&
         segment.subBufferWords > kFirstWords;
}

void bringInFronts(const SegmentHeader& segment) {
  Ring& ring = *thread().ring;
  auto* const base = reinterpret_cast<Word*>(segment.base);
  for (std::uint32_t i = 0; i < kFirstSubBuffers; ++i)
    if (!bringIn(base + format::frontIndex(segment, i), segment.subBufferWords - kFirstWords)) return;
  __atomic_fetch_and(&ring.frontless, ~(1U << indexOf(ring, segment)), __ATOMIC_RELAXED);
}

bool bringIn(Word* front, std::uint32_t words) {
  return bringIn(*thread().ring, front, std::uint64_t{words} * sizeof(Word));
}

}  // namespace traceback::inject
