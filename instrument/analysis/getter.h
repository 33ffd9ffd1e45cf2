// What a function hands out that does nothing else: the address of something in its object, or in what that
// points to. Found by going through its instructions with values that are only known by where they come from;
// through the calls that it makes, too, as compilers make them of `return m_text.c_str();` when they do not
// optimise.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "instrument/analysis/own_slots.h"
#include "instrument/analysis/program.h"

namespace traceback::instrument {

// From the object's address, `loads` times: add an offset, load the word there; then add the next offset. Or
// the address of a constant, as linked.
struct Handed {
  static constexpr unsigned kMostLoads = 2;
  unsigned loads = 0;
  std::array<std::int64_t, kMostLoads + 1> offsets{};
  std::optional<VirtAddr> constant = {};
  friend bool operator==(const Handed&, const Handed&) = default;
};

class Getters {
 public:
  // The program must outlive it.
  explicit Getters(const Program& program);

  // Nothing if the function does anything else, or may hand out one thing or another.
  std::optional<Handed> handedOutBy(VirtAddr function) const;

 private:
  class Walk;

  const Program& m_program;
  OwnSlots m_slots;
};

}  // namespace traceback::instrument
