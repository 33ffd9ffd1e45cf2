// Where the indirect jumps of a function are known to lead: to places in itself and in its kin, as far as
// these have copies.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "instrument/analysis/program.h"

namespace traceback::instrument {

class IndirectTargets {
 public:
  // Program and function must outlive it.
  IndirectTargets(const Program& program, const Function& function);

  // Those that have such places: in whose tables the function's jumps look them up (dispatch.h).
  std::span<const Function* const> functions() const { return m_functions; }
  bool empty() const { return m_functions.empty(); }

  struct Place {
    const Function* function = nullptr;
    BlockIndex index = kNone;  // of the block that begins there
    const Block& block() const { return function->blocks[index]; }
  };
  // Nothing if the address is not known to be one.
  std::optional<Place> at(VirtAddr address) const;

 private:
  std::vector<const Function*> m_functions;
};

}  // namespace traceback::instrument
