// When values of the original's and of the instrumented process are the same value: where they are equal, or
// addresses of the same thing. A return address into a copy is the original's; libraries and the heap may lie
// elsewhere.
//
// What code that is not stepped (the C library, the runtime) left in registers and on the stack may differ
// and mean nothing: garbage. Such pairs are learnt when that code comes back, one by one.
#pragma once

#include <set>
#include <unordered_map>

#include "tests/truth/lockstep/stepped_process.h"
#include "tests/truth/second_decoder/copy_checker.h"

namespace traceback::truth {

class SameValues {
 public:
  SameValues(SteppedProcess& original, SteppedProcess& copy, const std::vector<CopiedPlace>& places);

  bool same(std::uint64_t original, std::uint64_t copy);
  void learnGarbage(std::uint64_t original, std::uint64_t copy) { m_garbage.emplace(original, copy); }
  bool isGarbage(std::uint64_t original, std::uint64_t copy) const {
    return m_garbage.contains({original, copy});
  }

 private:
  bool samePointers(std::uint64_t original, std::uint64_t copy);
  bool sameAddress(std::uint64_t original, std::uint64_t copy, bool again);
  static const Mapping* find(const std::vector<Mapping>& mappings, std::uint64_t address);

  SteppedProcess &m_original, &m_copy;
  std::unordered_map<std::uint64_t, std::uint64_t> m_returns;  // copy to original, link-time
  std::set<std::pair<std::uint64_t, std::uint64_t>> m_garbage;
  std::unordered_map<std::uint64_t, std::uint64_t>
      m_anonymous;  // starts of anonymous memory, copy's to original's
};

}  // namespace traceback::truth
