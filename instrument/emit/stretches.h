// Which original instruction the bytes of a copy stand for: what readers of addresses go by.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "instrument/emit/code_builder.h"

namespace traceback::instrument {

// Bytes of a copy that one original instruction stands for.
struct Stretch {
  std::uint32_t offset = 0;  // in the copy's code; it goes on to the next stretch
  std::uint32_t original = 0;  // from the function's start
  std::uint8_t originalSize = 0;
  bool fixed = false;  // not the instruction as it was: all of it stands for its address
  bool apart = false;  // not to be joined with what is in front of it
};
static_assert(sizeof(Stretch) == 12);

// Of settled code, of the function that starts at `function`; by offset. `apart`: where stretches begin that
// are not joined with what is in front; `exact`: jumps that stand for an instruction as that itself does;
// both in the order in which they stand.
std::vector<Stretch> stretchesOf(const CodeBuilder& code, VirtAddr function, std::span<const Label> apart,
                                 std::span<const Label> exact);

}  // namespace traceback::instrument
