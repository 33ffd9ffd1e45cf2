// The codes of a module's DAGs (runtime/format/record.h).
#pragma once

#include <cstdint>

namespace traceback::instrument {

struct Codes {
  std::uint32_t span = 0;
  std::uint32_t unit = 0;  // power of two: of the first code
};

// `unit` is a power of two.
constexpr std::uint32_t codesRoundedUp(std::uint32_t codes, std::uint32_t unit) {
  return (codes + unit - 1) & ~(unit - 1);
}

}  // namespace traceback::instrument
