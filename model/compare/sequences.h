// What two sequences of keys have in common, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

namespace traceback::model {

// What may still be spent: about so many keys may be looked at.
struct Effort {
  std::uint64_t left = 400'000'000;
  std::stop_token stop;
  bool cancelled() const { return stop.stop_requested(); }
  bool spend(std::uint64_t keys) {
    left -= keys < left ? keys : left;
    return left > 0 && !cancelled();
  }
};

// Stretches that answer each other, in rising order, without overlap. What lies between two is either found
// not to answer each other, or, if `known` is false of the one behind it, was too long to be found out.
struct Common {
  std::size_t left = 0, right = 0, count = 0;
  friend bool operator==(const Common&, const Common&) = default;
};
struct Alignment {
  std::vector<Common> common;
  std::vector<bool> unknownBefore;  // one an element of `common`, and one for what is behind the last
};

// A longest common subsequence where that can be had: what begins and ends alike is taken off, keys that
// are there once on either side divide the rest, and what then remains is found as in "An O(ND) Difference
// Algorithm and Its Variations" (Myers, 1986), with a bound on D. Where either of several alike could
// be meant, as in rounds of a loop, it is rather the earliest, or, from the end, the latest.
enum class From : std::uint8_t { Start, End };
Alignment align(std::span<const std::uint64_t> left, std::span<const std::uint64_t> right, From from,
                Effort& effort);

}  // namespace traceback::model
