// When values of the original's and of the instrumented process are the same value: where they are equal, or
// addresses of the same thing. A return address into a copy is the original's, and so (for unwinders keep
// these) are the address before it and the start of a copied function; libraries and the heap may lie
// elsewhere.
//
// What code that is not stepped (the C library, the runtime) left in registers and on the stack may differ
// and mean nothing: garbage. Such pairs are learnt when that code comes back, one by one.
#pragma once

#include <set>
#include <unordered_map>
#include <vector>

#include "tests/truth/lockstep/stepped_process.h"
#include "tests/truth/second_decoder/copy_checker.h"

namespace traceback::truth {

class SameValues {
 public:
  SameValues(SteppedProcess& original, SteppedProcess& copy, const std::vector<CopiedPlace>& places,
             const std::vector<std::pair<std::uint64_t, std::uint64_t>>& functions);

  bool same(std::uint64_t original, std::uint64_t copy);
  void learnGarbage(std::uint64_t original, std::uint64_t copy);
  // What is called by different addresses in the two, wherever it is met.
  void learnPair(std::uint64_t original, std::uint64_t copy) { m_pairs.emplace(original, copy); }
  // From `start` up to `end` the copy has what the original has so much further up. The newest holds first.
  struct Shift {
    std::uint64_t start = 0, end = 0, distance = 0;
  };
  std::vector<Shift>& shifts() { return m_shifts; }
  bool sameStack(std::uint64_t original, std::uint64_t copy) const;

  // Wholly, or in one half with the other half equal.
  bool isGarbage(std::uint64_t original, std::uint64_t copy) const;

 private:
  bool samePointers(std::uint64_t original, std::uint64_t copy);
  bool sameAddress(std::uint64_t original, std::uint64_t copy, bool again);
  static const Mapping* find(const std::vector<Mapping>& mappings, std::uint64_t address);

  SteppedProcess &m_original, &m_copy;
  std::unordered_multimap<std::uint64_t, std::uint64_t> m_returns;  // and those others, link-time
  std::set<std::pair<std::uint64_t, std::uint64_t>> m_garbage, m_pairs;
  std::vector<Shift> m_shifts;
  std::set<std::pair<std::uint32_t, std::uint32_t>> m_garbageHalves;
  std::unordered_map<std::uint64_t, std::uint64_t>
      m_anonymous;  // starts of anonymous memory, copy's to original's
};

}  // namespace traceback::truth
