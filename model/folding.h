// Repetition in a sequence of rows: what a list may show as one row with a count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace traceback::model {

constexpr std::size_t kLongestRound = 32;

// `times` rounds of `period` rows each, from row `first` on.
struct Repeat {
  std::size_t first = 0;
  std::size_t period = 1;
  std::size_t times = 0;
  std::size_t rows() const { return period * times; }
  friend bool operator==(const Repeat&, const Repeat&) = default;
};

// In order, without overlap. Rows are alike if their keys are; a row with the key 0 is like no other. A
// single row counts from three times on, a round of more from two on. Found from the front: of what begins at
// a row, the repetition of most rows, of these the one with the shortest round. O(kLongestRound * keys).
std::vector<Repeat> findRepeats(std::span<const std::uint64_t> keys);

}  // namespace traceback::model
