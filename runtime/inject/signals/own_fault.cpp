#include "runtime/inject/signals/own_fault.h"

#include <sys/mman.h>

#include "runtime/format/clock.h"
#include "runtime/inject/kernel/files.h"
#include "runtime/inject/kernel/system.h"
#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/ghost.h"
#include "runtime/inject/rings/rings.h"
#include "runtime/inject/rings/wrap.h"
#include "runtime/inject/signals/handlers.h"
#include "runtime/inject/signals/held_faults.h"
#include "runtime/inject/signals/mask.h"

namespace traceback::inject {

namespace {

// Zeroed memory where nothing is mapped; never over what the program has put there.
bool fillHole(std::uint64_t page) {
  const long mapping = systemCall(__NR_mmap, static_cast<long>(page), kPage, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (failed(mapping)) return false;
  if (static_cast<std::uint64_t>(mapping) == page) return true;
  systemCall(__NR_munmap, mapping, kPage);  // a kernel that does not know the flag
  return false;
}

void stopTracing(Thread& t) {
  if (t.state != ThreadState::Traced) return;
  t.state = ThreadState::Untraced;
  enterDiscard(t);
  if (process.file != nullptr && isMapped(process.file, sizeof *process.file))
    __atomic_fetch_add(&process.file->ringsFailed, 1u, __ATOMIC_RELAXED);
}

bool interruptsRuntime(const ucontext_t& context) {
  return isRuntimeCode(static_cast<std::uint64_t>(context.uc_mcontext.gregs[REG_RIP]));
}

// Whatever of the runtime goes on writes there in vain: it finds segments of one sub-buffer in the header's
// own page.
void fillHeader(format::RingHeader& header) {
  constexpr std::uint64_t kHalf = kPage / 2;
  constexpr std::uint32_t kWords = kHalf / sizeof(Word);
  static_assert(sizeof(format::RingHeader) <= kHalf && format::kRingHeaderSize == kPage);
  const auto words = reinterpret_cast<std::uint64_t>(&header) + kHalf;
  memset(&header, 0, sizeof header);
  for (auto& segment : header.segments)
    segment = {words, words, 0, kWords, 1, kHalf, kWords, 0, {format::kCursorStep, 0}};
}

bool isLostRing(std::uint64_t address, ucontext_t& context) {
  Thread& t = thread();
  if (t.ring == nullptr) return false;
  const auto ring = reinterpret_cast<std::uint64_t>(t.ring->header);
  if (address - ring >= t.ring->size) return false;
  const std::uint64_t page = address & ~(kPage - 1);
  if (!fillHole(page)) return false;
  if (page == ring) fillHeader(*t.ring->header);
  if (!interruptsRuntime(context)) divertCursors(context, ring, t.ring->size);
  stopTracing(t);
  return true;
}

bool isLostProcessFile(std::uint64_t address) {
  if (process.file == nullptr || address - reinterpret_cast<std::uint64_t>(process.file) >= kProcessFileSize)
    return false;
  const std::uint64_t page = address & ~(kPage - 1);
  if (!fillHole(page)) return false;
  // The readings to come are behind all that were made.
  if (process.logicalClock && page == reinterpret_cast<std::uint64_t>(process.file))
    format::clockIn(*process.file).logicalTime = std::uint64_t{1} << 62;
  return true;
}

// Whether the runtime was interrupted where it had blocked all but faults; of these, one may have been put
// off.
bool isWhereFaultsAreLetIn(const ucontext_t& context) {
  return (bitsOf(context.uc_sigmask) | kNeverBlocked | ~kAllButFaults) == kAllSignals &&
         interruptsRuntime(context);
}

// The runtime blocks the signal, too, and it is pending until the mask is the program's again.
bool isPutOff(int signal, const siginfo_t& info, ucontext_t& context) {
  if ((signal != SIGSEGV && signal != SIGBUS) || info.si_code > 0 || !isWhereFaultsAreLetIn(context))
    return false;
  return putOff(signal, info, context);
}

}  // namespace

bool isOwnFault(int signal, const siginfo_t& info, ucontext_t& context) {
  if (isForksFault(signal, info)) {
    if (!interruptsRuntime(context)) leaveGhost(context);
    return true;
  }
  if (signal == SIGSEGV && info.si_code > 0) {
    const auto address = reinterpret_cast<std::uint64_t>(info.si_addr);
    return isLostRing(address, context) || isLostProcessFile(address);
  }
  return isPutOff(signal, info, context);
}

void leaveLostRing() {
  Thread& t = thread();
  if (t.state == ThreadState::Traced && !process.sandboxed && !isMapped(t.ring->header, t.ring->size))
    stopTracing(t);
}

void leaveLostProcessFile() {
  const auto start = reinterpret_cast<std::uint64_t>(process.file);
  if (start == 0 || process.sandboxed || isMapped(process.file, kProcessFileSize)) return;
  for (std::uint64_t at = 0; at < kProcessFileSize; at += kPage) isLostProcessFile(start + at);
}

}  // namespace traceback::inject
