// Signal masks as the kernel has them: bit n - 1 for signal n.
#pragma once

#include <signal.h>

#include <cstdint>

#include "runtime/inject/kernel/system.h"

namespace traceback::inject {

constexpr std::uint64_t bitOf(int signal) { return std::uint64_t{1} << (signal - 1); }

inline constexpr std::uint64_t kNeverBlocked = bitOf(SIGKILL) | bitOf(SIGSTOP);

// Of a sigset_t the kernel knows the first word.
inline std::uint64_t bitsOf(const sigset_t& set) {
  std::uint64_t bits;
  memcpy(&bits, &set, sizeof bits);
  return bits;
}
inline void putBits(sigset_t& set, std::uint64_t bits) { memcpy(&set, &bits, sizeof bits); }

}  // namespace traceback::inject
