#include "runtime/inject/rings/ghost.h"

#include <sys/mman.h>

#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/rings.h"

namespace traceback::inject {

namespace {

// The cursor that interrupted code keeps in a register, or is about to store, may be this one or the next,
// and the word behind this one may be about to be written. Its next head probe must come to the runtime,
// which gives it a cursor of this process.
void endAt(const Thread& t, std::uint64_t cursor) {
  constexpr unsigned kWords = 3;
  const std::uint64_t first = t.ghost + format::kRingHeaderSize, end = t.ghost + t.ghostSize;
  for (unsigned i = 0; i < kWords; ++i, cursor += sizeof(Word))
    if (cursor >= first && cursor + sizeof(Word) <= end)
      *reinterpret_cast<Word*>(cursor) = format::kSentinelWord;
}

}  // namespace

// A new page is all zeroes. The header's cursors have to lead somewhere, and whoever goes on from a cursor
// must find a sentinel.
void makeGhost(Thread& t) {
  t.ghost = 0;
  const auto place = reinterpret_cast<std::uint64_t>(t.ring->header);
  const long mapping =
      systemCall(__NR_mmap, static_cast<long>(place), static_cast<long>(t.ring->size), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
  if (failed(mapping)) return;
  if (static_cast<std::uint64_t>(mapping) != place) {  // a kernel that does not know the flag
    systemCall(__NR_munmap, mapping, static_cast<long>(t.ring->size));
    return;
  }
  t.ghost = place;
  t.ghostSize = t.ring->size;
  for (auto& segment : t.ring->header->segments) {
    segment.cursor = place + format::kRingHeaderSize;
    segment.step[0] = format::kCursorStep;
  }
  endAt(t, place + format::kRingHeaderSize);
  for (unsigned level = 1; level <= t.level && level <= kMaxLevel; ++level) endAt(t, t.frames[level].cursor);
}

bool isForksFault(int signal, const siginfo_t& info) {
  if (!inForkedChild()) return false;
  childStarted();
  const Thread& t = thread();
  return signal == SIGSEGV && info.si_code > 0 && t.ghost != 0 &&
         reinterpret_cast<std::uint64_t>(info.si_addr) - t.ghost < t.ghostSize;
}

}  // namespace traceback::inject
