#include "tests/truth/second_decoder/unseen_callers.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace traceback::truth {

namespace {

constexpr std::uint16_t kRax = 1, kR10 = 1U << 10, kStack = 1U << 4;
// r10 is, but only to functions within others.
constexpr std::uint16_t kNotPassed = (kPreserved & ~kStack) | kRax | kR10 | kLinkers;
constexpr int kMostRead = 8;  // by what is known exactly
constexpr std::size_t kOutside = ~std::size_t{0};

// For each instruction the one that its jump leads to.
std::vector<std::size_t> targetsOf(const std::vector<Effects>& code) {
  std::vector<std::size_t> targets(code.size(), kOutside);
  for (std::size_t i = 0; i < code.size(); ++i) {
    const auto found = std::ranges::lower_bound(code, code[i].target, {}, &Effects::address);
    if (code[i].target != 0 && found != code.end() && found->address == code[i].target)
      targets[i] = std::size_t(found - code.begin());
  }
  return targets;
}

bool follows(const std::vector<Effects>& code, std::size_t i) {
  return i + 1 < code.size() && code[i + 1].address == code[i].address + code[i].size;
}

// Backwards, until nothing changes.
template <typename Before>
std::vector<std::uint16_t> backwards(const std::vector<Effects>& code, Before before) {
  std::vector<std::uint16_t> sets(code.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = code.size(); i-- > 0;) {
      const std::uint16_t set = before(sets, i);
      changed = changed || set != sets[i];
      sets[i] = set;
    }
  }
  return sets;
}

}  // namespace

bool takesOtherRegisters(const std::vector<Effects>& code) {
  const auto targets = targetsOf(code);
  const auto taken = backwards(code, [&](const std::vector<std::uint16_t>& sets, std::size_t i) {
    const Effects& effects = code[i];
    const bool call = effects.leaves == Leaves::Call;
    unsigned set = 0;
    if ((effects.falls || call) && follows(code, i)) set |= sets[i + 1];
    if (call) set &= kPreserved;
    if (!call && targets[i] != kOutside) set |= sets[targets[i]];
    set &= ~unsigned{effects.touches};
    // al has the number of vector registers that are passed.
    const bool isCount = effects.size == 2 && effects.touches == 0 && effects.reads.registers == kRax;
    if (effects.leaves != Leaves::Other && std::popcount(effects.reads.registers) < kMostRead && !isCount)
      set |= effects.reads.registers & ~unsigned{effects.mayLeave};
    return std::uint16_t(set & ~unsigned{effects.saves});
  });
  return !code.empty() && (taken.front() & kNotPassed) != 0;
}

std::uint16_t restoredRegisters(const std::vector<Effects>& code) {
  const auto targets = targetsOf(code);
  using Sets = std::vector<std::uint16_t>;
  // What comes from there to a return as it is, with no call on the way.
  const auto lasting = backwards(code, [&](const Sets& sets, std::size_t i) {
    const Effects& effects = code[i];
    unsigned set = effects.leaves == Leaves::Return ? kEveryRegister & ~kResults : 0;
    if (effects.leaves != Leaves::Call && targets[i] != kOutside) set |= sets[targets[i]];
    if (effects.falls && follows(code, i)) set |= sets[i + 1];
    return std::uint16_t(set & ~unsigned{effects.touches});
  });
  // What something looks at, or may where control leaves the function otherwise.
  const auto read = backwards(code, [&](const Sets& sets, std::size_t i) {
    const Effects& effects = code[i];
    const bool follow = effects.falls && follows(code, i);
    const bool inside = effects.leaves == Leaves::Not && effects.target != 0 && targets[i] != kOutside;
    const bool ends =
        effects.leaves == Leaves::Return || (effects.leaves == Leaves::Not && effects.target == 0 && follow);
    unsigned set = inside || ends ? 0 : kEveryRegister;
    if (inside) set |= sets[targets[i]];
    if (follow) set |= sets[i + 1];
    return std::uint16_t((set & ~unsigned{effects.writes.registers}) | effects.reads.registers);
  });
  unsigned restored = 0;
  for (std::size_t i = 0; i + 1 < code.size(); ++i)
    if (follows(code, i)) restored |= code[i].loads & lasting[i + 1] & ~unsigned{read[i + 1]};
  unsigned saved = 0, touched = 0;
  for (std::size_t i = 0; i < code.size() && (i == 0 || code[i - 1].falls) && code[i].target == 0; ++i) {
    saved |= code[i].saves & ~touched;
    touched |= code[i].touches;
  }
  return (saved & restored) != 0 ? kEveryRegister : std::uint16_t(restored);
}

}  // namespace traceback::truth
