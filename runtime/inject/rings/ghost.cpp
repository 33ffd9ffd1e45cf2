#include "runtime/inject/rings/ghost.h"

#include <sys/mman.h>

#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/rings.h"
#include "runtime/inject/rings/wrap.h"

namespace traceback::inject {

// A new page is all zeroes, and the header's cursors have to lead somewhere.
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
    segment.cursor = reinterpret_cast<std::uint64_t>(lastCursor());
    segment.step[0] = format::kCursorStep;
  }
}

void leaveGhost(ucontext_t& context) {
  const Thread& t = thread();
  if (t.ghost != 0) divertCursors(context, t.ghost, t.ghostSize);
}

bool isForksFault(int signal, const siginfo_t& info) {
  if (!inForkedChild()) return false;
  childStarted();
  const Thread& t = thread();
  return signal == SIGSEGV && info.si_code > 0 && t.ghost != 0 &&
         reinterpret_cast<std::uint64_t>(info.si_addr) - t.ghost < t.ghostSize;
}

}  // namespace traceback::inject
