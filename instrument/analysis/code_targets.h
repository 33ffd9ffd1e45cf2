// Where control may enter code, found with too much rather than too little: every place that something in the
// file looks as if it might jump to, or read.
#pragma once

#include <cstdint>
#include <vector>

#include "instrument/analysis/program.h"

namespace traceback::instrument {

class CodeTargets {
 public:
  // Scans the whole program. Also fills the functions' outsideTargets, indirectTargets and kin, and marks
  // those to be skipped whose middle is called, or that call their own middle.
  static CodeTargets find(Program& program);

  // Whether something may enter, or read, (first, end): any byte but the first.
  bool anyInside(VirtAddr first, VirtAddr end) const;
  // Whether the address itself may be entered from elsewhere than by direct jumps of other functions.
  bool entered(VirtAddr address) const { return named(address) || marked(m_called, address); }
  // Whether a pointer may lead there, or another module.
  bool named(VirtAddr address) const { return marked(m_named, address); }

 private:
  void mark(std::vector<std::vector<bool>>& bits, VirtAddr address);
  bool marked(const std::vector<std::vector<bool>>& bits, VirtAddr address) const;
  void scanInstructions(Program& program);
  void scanBytes();
  void scanShortJumps();
  void scanData(Program& program);
  void scanTables(Program& program);
  void scanTable(Program& program, Function& f, VirtAddr table, VirtAddr next);
  void join(const Function& one, const Function& other);
  void findKin(Program& program);
  // The function that has an instruction there, if any.
  const Function* markAddressTaken(Program& program, VirtAddr address);

  const Program* m_program = nullptr;
  std::vector<std::vector<bool>> m_possible;  // by code range and offset: a possible target
  std::vector<std::vector<bool>> m_called;  // directly
  std::vector<std::vector<bool>> m_named;  // its address is somewhere, or a symbol has it for others
  // Functions, by number, one of which goes to the middle of the other by jumps or tables; both ways round.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> m_joined;
};

}  // namespace traceback::instrument
