// Which other thread a stopped thread waits for, as far as its system call tells: a mutex knows its owner,
// and who joins a thread waits for that thread's number to go (glibc's nptl on x86-64; futex(2)).
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <functional>
#include <optional>

namespace traceback::collect {

struct ThreadWait {
  pid_t tid = 0;  // of the thread that is waited for
  bool forEnd = false;  // for its end, else for a lock that it holds
  friend bool operator==(const ThreadWait&, const ThreadWait&) = default;
};

// Reads eight bytes of the process's memory.
using ReadMemory = std::function<std::optional<std::uint64_t>(std::uint64_t address)>;

// Nothing if the thread is in no such call, or what it waits for names none of the process's threads, which
// `isThread` tells.
std::optional<ThreadWait> waitOf(const user_regs_struct& registers, const ReadMemory& read,
                                 const std::function<bool(pid_t)>& isThread);

}  // namespace traceback::collect
