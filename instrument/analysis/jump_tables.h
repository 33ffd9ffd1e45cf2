// Indirect jumps through tables of the program whose entries cannot change: a copy jumps through a table of
// its own instead, which has at each index the copy of where the program's leads.
//
//   Offsets     movslq (base, index, 4), reg; add base, reg; jmp *reg     distances from the table's start
//   Addresses   jmp *(base, index, 8), or mov (base, index, 8), reg; jmp *reg
//   Absolute    the same with the table's address for a base: in files that lie where they were linked
//
// Between these and the jump may stand what neither looks at the register nor changes what they use. The
// copy's table may have more entries than the program's: what is read there cannot change either. That the
// base is the table's address is plain where the block has it by lea; else the copy compares it. Whatever is
// not as expected takes the slow way: the original instructions, and the lookup (dispatch.h).
#pragma once

#include <optional>
#include <vector>

#include "instrument/analysis/constant_words.h"
#include "instrument/analysis/indirect_targets.h"
#include "instrument/decode/indexed_operand.h"

namespace traceback::instrument {

struct JumpTable {
  enum class Kind : std::uint8_t { Offsets, Addresses, Absolute } kind = Kind::Offsets;
  VirtAddr original;
  std::vector<VirtAddr> targets;  // where the entries lead that copies have of it
  std::uint32_t entries() const { return std::uint32_t(targets.size()); }
  bool operator==(const JumpTable&) const = default;
};

struct TableJump {
  std::uint32_t load = 0, jump = 0;  // instructions of the function; the same for a jump with an operand
  IndexedOperand operand;  // of the load
  JumpTable table;
  bool comparesIndex = true;
  bool comparesBase = false;
  // The register of the jump. It comes to have the address of the copy: where it is needed, entries lead by a
  // stub that gives it the address that the program had in it.
  std::optional<unsigned> target;
  // Another, for the address if the jump has no register, or for comparing the base. If it is needed anywhere
  // it is kept in a spill slot, from which stubs and the slow way have it back.
  std::optional<unsigned> scratch;
  bool spills = false;
  // Of Offsets: no instruction behind the add changes flags, so where they are needed stubs repeat it.
  bool leavesFlagsOfAdd = true;

  unsigned forAddress() const { return target ? *target : *scratch; }
  unsigned forBase() const { return scratch ? *scratch : *target; }
};

// How the block's indirect jump can go by a table. `known`: of its function. Nothing if it cannot, or nothing
// is known to be where it leads.
std::optional<TableJump> findTableJump(const Program& program, const ConstantWords& words, const Function& f,
                                       const Block& block, const IndirectTargets& known);

}  // namespace traceback::instrument
