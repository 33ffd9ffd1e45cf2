// What the single-stepper saw: for each thread of a program, the instructions that it executed.
//
// The file is little-endian:
//
//   "TBTRUTH1" | int32 wait status | uint32 thread count | threads...
//   thread: uint32 tid | uint32 flags | uint64 n | uint32 address[n] | uint64 m | SignalSeen[m]
//
// Addresses are link-time ones, of the executable. An instruction that faulted is in the sequence: it was
// begun. If its handler returns to it, it comes a second time.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace traceback::truth {

template <typename T>
using Outcome = std::expected<T, std::string>;

struct SignalSeen {
  std::uint64_t position;  // how many instructions the thread had begun before
  std::uint64_t address;   // link-time address at which it stood; outside the ranges it may be of any file
  std::uint32_t signal;
  std::uint32_t synchronous;  // 1: raised by the last instruction of those
};
static_assert(sizeof(SignalSeen) == 24);

enum ThreadMark : std::uint32_t {
  kThreadCutShort = 1,  // killed by what another thread did, so it might have gone on
};

struct ThreadSequence {
  std::uint32_t tid = 0;
  std::uint32_t marks = 0;  // ThreadMark
  std::vector<std::uint32_t> addresses;
  std::vector<SignalSeen> received;
};

struct Sequence {
  std::int32_t waitStatus = 0;          // of the process, as waitpid gives it
  std::vector<ThreadSequence> threads;  // in the order in which they were made; the first is the main thread
};

Outcome<void> writeSequence(const Sequence& sequence, const std::string& path);
Outcome<Sequence> readSequence(const std::string& path);

}  // namespace traceback::truth
