// Which flags and registers carry a value from one function of a module into another, and what every
// instruction of all functions needs in the light of that.
//
// Code that is not seen is taken to keep to the System V ABI, unless the module says otherwise. What is
// needed behind such a call may be left alone by whoever is called. Where code that follows such a call at
// once reads a register that the ABI lets calls change, the module's own functions leave it alone. A function
// that may be entered through a pointer and reads r11 at once is passed something there. Those that restore
// registers for nobody, or are passed others than the ABI's, are called by somebody who has them back as they
// were.
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
  // Where direct jumps and calls lead, whatever is there.
  Needs at(std::uint64_t address) const;
  // Behind a call, if a return from there led to it: the registers that need not come back as they were, nor
  // with anything, for it is not seen who was called, or he went on through a pointer to who returned.
  std::uint16_t lostAt(std::uint64_t address, std::uint64_t from) const;
  // Where direct jumps of any function lead. Sorted.
  const std::vector<std::uint64_t>& jumpTargets() const { return m_targets; }

 private:
  bool round();
  void findConventions();
  bool mayBeStub(std::uint64_t address) const;
  void findUsers();
  void findUnseenCallers(const ElfFile& original);
  std::uint16_t readAtOnce(const std::vector<Effects>& code, std::size_t from) const;
  std::size_t indexOf(std::uint64_t address) const;
  bool isStub(std::uint64_t address) const { return m_stubs.contains(address); }
  bool isRead(const ElfFile& original, Decoder& decoder, std::uint64_t address) const;
  std::uint64_t functionOf(std::uint64_t address) const;

  const std::vector<InstrumentedFunction>& m_functions;
  std::vector<std::vector<Effects>> m_code;  // while it is being followed
  std::vector<std::vector<std::uint64_t>> m_starts;
  std::vector<std::vector<Needs>> m_needs;
  std::vector<std::uint64_t> m_targets;
  std::unordered_set<std::uint64_t> m_unread;  // where it is not known what is there
  std::vector<bool> m_named;  // functions that may be entered through a pointer
  std::vector<Needs> m_onReturnOf;
  std::vector<std::vector<std::size_t>> m_users;  // functions that go there
  std::vector<bool> m_due;
  struct Lost {
    std::uint64_t callee;  // 0 if it is not seen
    std::uint16_t registers;
  };
  std::unordered_map<std::uint64_t, Lost> m_lost;  // behind calls
  std::unordered_set<std::uint64_t> m_stubs;  // that are called or jumped to
  Needs m_onIndirectEntry, m_onReturn;
};

}  // namespace traceback::truth
