// What the program `counting` spelled: its path through marked places, back to the numbers.
#pragma once

#include <QString>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/truth/code_listing.h"
#include "tests/truth/traced_path.h"

namespace traceback::truth {

// One speller's numbers, in one thread. They are modulo 2^16.
struct Spelled {
  std::vector<std::uint16_t> numbers;  // those spelled whole, in order
  // One that was begun and is not at its end: its lowest bits.
  bool isOpen = false;
  unsigned openBits = 0;
  std::uint16_t openNumber = 0;
};

class SpelledNumbers {
 public:
  // `speller`: main, alarm or timer.
  static Attempt<Spelled> read(const TracedThread& thread, const CodeListing& listing,
                               const std::string& speller);
};

// Whether the last of the numbers is what the count in the shared memory allows: n, or n - 1 where n is the
// one that was being spelled or was about to be. Nothing if so.
std::optional<QString> contradiction(const Spelled& spelled, std::uint64_t count);

}  // namespace traceback::truth
