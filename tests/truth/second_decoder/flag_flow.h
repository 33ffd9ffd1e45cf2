// Which flags carry a value from one function of a module into another, and what every instruction of all
// functions needs in the light of that.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tests/truth/instrumented_file.h"
#include "tests/truth/second_decoder/code.h"

namespace traceback::truth {

class FlagFlow {
 public:
  // Decodes all functions of the map, as far as they decode.
  FlagFlow(const ElfFile& original, const std::vector<InstrumentedFunction>& functions);

  // What is needed before each instruction of a function; empty if it does not decode.
  const std::vector<Needs>& needs(std::size_t function) const { return m_needs[function]; }
  // The same by the instruction's address; nothing if none of them begins there.
  const Needs* needsAt(std::uint64_t address) const;
  // Where direct jumps of any function lead. Sorted.
  const std::vector<std::uint64_t>& jumpTargets() const { return m_targets; }

 private:
  bool round();
  bool isRead(const ElfFile& original, Decoder& decoder, std::uint64_t address) const;
  std::uint64_t functionOf(std::uint64_t address) const;
  std::uint8_t flagsAt(std::uint64_t address) const;

  const std::vector<InstrumentedFunction>& m_functions;
  std::vector<std::vector<Effects>> m_code;  // while it is being followed
  std::vector<std::vector<std::uint64_t>> m_starts;
  std::vector<std::vector<Needs>> m_needs;
  std::vector<std::uint64_t> m_targets;
  std::unordered_set<std::uint64_t> m_unread;  // where it is not known what is there
  std::vector<bool> m_named;  // functions that may be entered through a pointer
  std::unordered_map<std::uint64_t, std::uint8_t> m_onReturnOf;  // by the function's address
  std::uint8_t m_onIndirectEntry = 0, m_onReturn = 0;
};

}  // namespace traceback::truth
