#include "tests/truth/lockstep/same_values.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace traceback::truth {

SameValues::SameValues(SteppedProcess& original, SteppedProcess& copy, const std::vector<CopiedPlace>& places,
                       const std::vector<std::pair<std::uint64_t, std::uint64_t>>& functions)
    : m_original(original), m_copy(copy) {
  for (const CopiedPlace& place : places)
    if (place.at != 0) {
      m_returns.emplace(place.end, place.original + place.size);
      m_returns.emplace(place.end - 1, place.original + place.size - 1);
    }
  for (const auto& [start, before] : functions) m_returns.emplace(start, before);
}

void SameValues::learnGarbage(std::uint64_t original, std::uint64_t copy) {
  m_garbage.emplace(original, copy);
  for (const unsigned half : {0U, 32U})
    if (std::uint32_t(original >> half) != std::uint32_t(copy >> half))
      m_garbageHalves.emplace(std::uint32_t(original >> half), std::uint32_t(copy >> half));
}

bool SameValues::isGarbage(std::uint64_t original, std::uint64_t copy) const {
  if (m_garbage.contains({original, copy})) return true;
  const auto known = [&](unsigned half) {
    const auto a = std::uint32_t(original >> half), b = std::uint32_t(copy >> half);
    return a == b || m_garbageHalves.contains({a, b});
  };
  return known(0) && known(32);
}

const Mapping* SameValues::find(const std::vector<Mapping>& mappings, std::uint64_t address) {
  const auto after = std::ranges::upper_bound(mappings, address, {}, &Mapping::start);
  if (after == mappings.begin() || address > std::prev(after)->end) return nullptr;
  return &*std::prev(after);
}

bool SameValues::sameAddress(std::uint64_t original, std::uint64_t copy, bool again) {
  const Mapping* here = find(m_copy.mappings(again), copy);
  const Mapping* there = find(m_original.mappings(again), original);
  if (here == nullptr || there == nullptr) return false;
  if (!here->name.empty())
    return here->name == there->name && here->name != "[stack]" &&
           copy - here->fileStart == original - there->fileStart;
  if (!there->name.empty()) return false;
  // Which anonymous memory is which is learnt, and holds from then on.
  const std::uint64_t base =
      copy - here->start == original - there->start ? there->start : original - (copy - here->start);
  return m_anonymous.try_emplace(here->start, base).first->second == base;
}

bool SameValues::same(std::uint64_t original, std::uint64_t copy) {
  if (sameStack(original, copy) || m_pairs.contains({original, copy}) || samePointers(original, copy))
    return true;
  // As the C library keeps code addresses in a jmp_buf: mangled with a number that start() has fixed.
  std::uint64_t guard = 0;
  std::memcpy(&guard, SteppedProcess::kRandom + 8, 8);
  return samePointers(std::rotr(original, 17) ^ guard, std::rotr(copy, 17) ^ guard);
}

bool SameValues::sameStack(std::uint64_t original, std::uint64_t copy) const {
  return original == copy || std::ranges::any_of(m_shifts, [&](const Shift& shift) {
           return copy >= shift.start && copy < shift.end && copy + shift.distance == original;
         });
}

bool SameValues::samePointers(std::uint64_t original, std::uint64_t copy) {
  // Where one function ends another may begin.
  if (const auto [known, end] = m_returns.equal_range(copy - m_copy.bias()); known != end)
    return std::any_of(known, end,
                       [&](const auto& way) { return way.second + m_original.bias() == original; });
  return sameAddress(original, copy, false) || sameAddress(original, copy, true);
}

}  // namespace traceback::truth
