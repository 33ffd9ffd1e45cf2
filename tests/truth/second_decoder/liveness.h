// What a piece of code still needs of the registers and flags, by Capstone: a second opinion on what probes
// may use.
//
// Registers and flags are followed: into what is called or jumped to directly, and back to where calls
// return. Through pointers and between modules flags carry what some function of the module looks at on
// entry, or behind a call, and registers whatever calling conventions let them.
#pragma once

#include <capstone/capstone.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace traceback::truth {

struct Needs {
  std::uint16_t registers = 0;  // bit n: the general register of number n
  std::uint8_t flags = 0;  // CF 1, PF 2, AF 4, ZF 8, SF 16, OF 32; and kXmm15
  std::uint16_t maybe = 0;  // registers that nobody is seen to read, but somebody else may
  bool operator==(const Needs&) const = default;
  Needs& operator|=(const Needs& more) {
    registers |= more.registers;
    flags |= more.flags;
    maybe |= more.maybe;
    return *this;
  }
};

inline constexpr std::uint16_t kEveryRegister = 0xFFFF;
// System V ABI, AMD64 supplement, 3.2.1: what a function has to leave as it was; what may hold a result, and
// what LLVM puts there besides; and all that may be passed, as r11 is the linker's.
inline constexpr std::uint16_t kPreserved = 1U << 3 | 1U << 4 | 1U << 5 | 0xF000U;
inline constexpr std::uint16_t kResults = kPreserved | 1U << 0 | 1U << 1 | 1U << 2 | 1U << 8;
inline constexpr std::uint16_t kLinkers = 1U << 11;
inline constexpr std::uint16_t kArguments = kEveryRegister & ~kLinkers;

inline constexpr std::uint8_t kStatusFlags = 63;
// The lower half of xmm15, which is followed as the flags are.
inline constexpr std::uint8_t kXmm15 = 64;
// The same, where a caller needs it behind the function's return: other callers have nothing there.
inline constexpr std::uint8_t kXmm15Beyond = 128;

enum class Leaves : std::uint8_t { Not, Call, Return, Jump, Other };

struct Effects {
  std::uint64_t address = 0;
  std::uint64_t target = 0;  // of a direct jump or call; 0 if none
  std::uint64_t pointer = 0;  // relative to rip, that it calls or jumps through; 0 if none
  unsigned size = 0;
  Needs reads, writes;  // writes: wholly, whatever was there before
  std::uint16_t touches = 0;  // writes at least part of these
  std::uint16_t mayLeave = 0;  // of those that it touches, and reads for it
  std::uint16_t loads = 0;  // the one that it loads whole from memory, and does nothing else
  std::uint16_t saves = 0;  // the one that it puts on the stack whole, and does nothing else
  bool maySetFlags = false;  // those of the status
  bool pushes = false;  // a register, if only to make room
  bool falls = true;  // may go on behind itself
  bool namesXmm15 = false;  // or may change it otherwise
  Leaves leaves = Leaves::Not;  // Jump: indirect; Other: into the system, or never to come back
};

Effects effectsOf(csh capstone, const cs_insn& insn);
// Of an instruction that Capstone does not know: it may read anything.
Effects effectsOfUnknown(std::uint64_t address, unsigned size);

// What is needed where code leaves a function.
struct Elsewhere {
  std::function<Needs(std::uint64_t address)> at;  // at an address that is called or jumped to
  std::function<bool(std::uint64_t address)> isStub;  // of another module
  Needs onIndirectEntry;
  Needs onReturn;
};

// For each instruction what is needed before it. Sorted by address.
std::vector<Needs> liveBefore(const std::vector<Effects>& code, const Elsewhere& elsewhere);

// The number of x86 of any part of a general register; -1 for others.
int registerNumber(unsigned reg);
unsigned sixteenBitsOf(unsigned reg);  // Capstone's number of them; of a general register

}  // namespace traceback::truth
