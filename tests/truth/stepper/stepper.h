// Single-steps a program, all of its threads, and writes down which instructions they execute within given
// ranges of the executable. It knows nothing of the product.
//
// While only one thread exists and it is outside the ranges, it runs at full speed, the ranges being filled
// with breakpoint instructions: whatever way leads back in (a return, a callback, a signal handler, longjmp,
// a landing pad), it is seen. As soon as there are more threads, each is stepped all the way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/truth/stepper/sequence.h"

namespace traceback::truth {

// Link-time addresses [start, end).
struct Range {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

struct StepOptions {
  std::string name;                      // what the program finds as its name; empty: its path
  std::vector<Range> ranges;        // sorted, disjoint; below 4 GiB
  std::uint64_t limit = 2'000'000;  // steps within the ranges, all threads together
  std::uint64_t limitOutside = 20'000'000;
};

// argv[0] is the path of the executable. Standard streams are inherited; addresses are not randomized.
Outcome<Sequence> stepProgram(const std::vector<std::string>& argv, const StepOptions& options);

// Of an ELF file: one range for the section of that name.
Outcome<std::vector<Range>> sectionRange(const std::string& path, const std::string& section);
Outcome<std::uint64_t> entryPoint(const std::string& path);

}  // namespace traceback::truth
