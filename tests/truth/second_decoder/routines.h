// The routines of an instrumented file that write records, or set bits, for the probes that call them, byte
// by byte.
#pragma once

#include <cstdint>
#include <map>

#include "tests/truth/instrumented_file.h"

namespace traceback::truth {

struct Findings;

struct RecordRoutine {
  std::uint64_t end = 0;
  unsigned record = 0;    // the register that holds the record, by its number
  unsigned scratch = 0;   // the one that it changes; r11 it gives back
  bool restores = false;  // that register, from where its caller has kept it
  bool keeps = false;     // the cursor in xmm15
  bool brought = false;   // where it is already
};

// Changes nothing but that bit.
struct BitRoutine {
  std::uint64_t end = 0;
  std::uint32_t mask = 0;
  bool keeps = false;  // the cursor in xmm15
};

// Takes the cursor from memory into xmm15 and this register.
struct LoadRoutine {
  unsigned reg = 0;
};

// By address. What is not as it must be is a finding, and left out.
struct Routines {
  std::map<std::uint64_t, RecordRoutine> records;
  std::map<std::uint64_t, BitRoutine> bits;
  std::map<std::uint64_t, LoadRoutine> loads;
};
Routines readRoutines(const InstrumentedFile& file, Findings& findings);

}  // namespace traceback::truth
