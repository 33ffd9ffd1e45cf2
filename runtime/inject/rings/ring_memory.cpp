#include "runtime/inject/rings/ring_memory.h"

#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/ring_file.h"
#include "runtime/inject/rings/thread.h"

namespace traceback::inject {

namespace {

// Has pages that are there mapped now, rather than one by one within probes: while one waits for its page,
// another thread that has the same ring (sharing.h) might step the cursor over words that nobody has written.
void touch(void* start, std::uint64_t size) {
  constexpr std::uint64_t kPage = 4096;
  auto* const bytes = static_cast<std::uint8_t*>(start);
  for (std::uint64_t at = 0; at < size; at += kPage)
    __atomic_fetch_or(bytes + at, std::uint8_t{0}, __ATOMIC_RELAXED);
}

}  // namespace

Ring::Memory memoryOf(const Ring& ring) { return __atomic_load_n(&ring.memory, __ATOMIC_RELAXED); }
void setMemory(Ring& ring, Ring::Memory memory) { __atomic_store_n(&ring.memory, memory, __ATOMIC_RELAXED); }

bool bringIn(const Ring& ring, void* start, std::uint64_t size) {
  if (memoryOf(ring) != Ring::Memory::Whole) return !process.sandboxed && allocateMapped(start, size);
  touch(start, size);
  return true;
}

bool bringIn(Word* front, std::uint32_t words) {
  return bringIn(*thread().ring, front, std::uint64_t{words} * sizeof(Word));
}

}  // namespace traceback::inject
