// What a piece of code still needs of the registers and flags, by Capstone: a second opinion on what probes
// may use.
//
// At calls, returns and jumps to elsewhere every register is needed. Flags are followed: into what is called
// or jumped to directly, and back to where calls return. Through pointers and between modules they carry what
// some function of the module looks at on entry, or behind a call.
#pragma once

#include <capstone/capstone.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace traceback::truth {

struct Needs {
  std::uint16_t registers = 0;  // bit n: the general register of number n
  std::uint8_t flags = 0;  // CF 1, PF 2, AF 4, ZF 8, SF 16, OF 32; and kXmm15
};

inline constexpr std::uint8_t kStatusFlags = 63;
// The lower half of xmm15, which is followed as the flags are.
inline constexpr std::uint8_t kXmm15 = 64;
// The same, where a caller needs it behind the function's return: other callers have nothing there.
inline constexpr std::uint8_t kXmm15Beyond = 128;

enum class Leaves : std::uint8_t { Not, Call, Return, Jump, Other };

struct Effects {
  std::uint64_t address = 0;
  std::uint64_t target = 0;  // of a direct jump or call; 0 if none
  unsigned size = 0;
  Needs reads, writes;  // writes: wholly, whatever was there before
  bool falls = true;  // may go on behind itself
  bool namesXmm15 = false;  // or may change it otherwise
  Leaves leaves = Leaves::Not;  // needs every register behind itself; Jump: indirect
};

Effects effectsOf(csh capstone, const cs_insn& insn);
// Of an instruction that Capstone does not know: it may read anything.
Effects effectsOfUnknown(std::uint64_t address, unsigned size);

// The flags that are needed where code leaves a function.
struct FlagsElsewhere {
  std::function<std::uint8_t(std::uint64_t address)> at;  // at an address that is called or jumped to
  std::uint8_t onIndirectEntry = 0;
  std::uint8_t onReturn = 0;
};

// For each instruction what is needed before it. Sorted by address.
std::vector<Needs> liveBefore(const std::vector<Effects>& code, const FlagsElsewhere& elsewhere);

// The number of x86 of any part of a general register; -1 for others.
int registerNumber(unsigned reg);

}  // namespace traceback::truth
