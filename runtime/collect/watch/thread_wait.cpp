#include "runtime/collect/watch/thread_wait.h"

#include <linux/futex.h>
#include <sys/syscall.h>

namespace traceback::collect {

std::optional<ThreadWait> waitOf(const user_regs_struct& registers, const ReadMemory& read,
                                 const std::function<bool(pid_t)>& isThread) {
  if (registers.orig_rax != SYS_futex) return std::nullopt;
  const auto named = [&](std::uint32_t value, bool forEnd) -> std::optional<ThreadWait> {
    const auto tid = static_cast<pid_t>(value);
    return tid > 0 && isThread(tid) ? std::optional(ThreadWait{tid, forEnd}) : std::nullopt;
  };
  const auto low = [&](std::uint64_t address) -> std::optional<std::uint32_t> {
    const auto bytes = read(address);
    return bytes ? std::optional(static_cast<std::uint32_t>(*bytes)) : std::nullopt;
  };
  const auto word = low(registers.rdi);
  if (!word) return std::nullopt;
  switch (static_cast<std::uint32_t>(registers.rsi) & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET: {
      const auto expected = static_cast<std::uint32_t>(registers.rdx);
      if (*word != expected) return std::nullopt;
      // A robust mutex has its owner in the word itself; pthread_join waits for a plain number to become
      // zero.
      if ((expected & FUTEX_WAITERS) != 0) return named(expected & FUTEX_TID_MASK, false);
      if (auto joined = named(expected, true)) return joined;
      // pthread_mutex_t: lock, count, owner. 2 is "locked, and somebody waits".
      if (expected != 2) return std::nullopt;
      const auto owner = low(registers.rdi + 8);
      return owner ? named(*owner, false) : std::nullopt;
    }
    case FUTEX_LOCK_PI:
#ifdef FUTEX_LOCK_PI2
    case FUTEX_LOCK_PI2:
#endif
      return named(*word & FUTEX_TID_MASK, false);
    default:
      return std::nullopt;
  }
}

}  // namespace traceback::collect
