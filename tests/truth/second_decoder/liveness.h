// What a piece of code still needs of the registers and flags, by Capstone: a second opinion on what probes
// may use.
//
// At calls, returns and jumps to elsewhere every register is needed. Flags are not: that they are dead there
// is the convention, and where a function breaks it this opinion is the more lenient one.
#pragma once

#include <capstone/capstone.h>

#include <cstdint>
#include <vector>

namespace traceback::truth {

struct Needs {
  std::uint16_t registers = 0;  // bit n: the general register of number n
  std::uint8_t flags = 0;       // CF 1, PF 2, AF 4, ZF 8, SF 16, OF 32
};

struct Effects {
  std::uint64_t address = 0;
  unsigned size = 0;
  Needs reads, writes;            // writes: wholly, whatever was there before
  std::uint64_t target = 0;       // of a direct jump; 0 if none
  bool falls = true;              // may go on behind itself
  bool leaves = false;            // needs everything behind itself: a call, a return, an indirect jump
};

Effects effectsOf(csh capstone, const cs_insn& insn);

// For each instruction what is needed before it. Sorted by address.
std::vector<Needs> liveBefore(const std::vector<Effects>& code);

// The number of x86 of any part of a general register; -1 for others.
int registerNumber(unsigned reg);

}  // namespace traceback::truth
