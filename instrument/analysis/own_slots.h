// Slots of stubs (stubs.h) that the dynamic linker binds to functions of the file itself, unless another
// module has a function of that name in front of it: what shared libraries call of their own goes by such.
//
// Nothing is promised. Until a slot is bound, if it is bound late, it leads to the linker's; who preloads or
// links another definition has that there, and an auditor perhaps a trampoline. So whoever goes on a slot's
// being bound to that function compares first.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>

#include "instrument/analysis/program.h"

namespace traceback::instrument {

class OwnSlots {
 public:
  OwnSlots() = default;
  // Of relocations for symbols that the file defines (psABI, 4.4.1: R_X86_64_JUMP_SLOT, GLOB_DAT). A file
  // whose relocations or symbols cannot be read has none.
  explicit OwnSlots(const Program& program);

  // The start of the function.
  std::optional<VirtAddr> functionOf(VirtAddr slot) const;
  // The symbol, of whichever file, that a slot is bound to; empty if there is no such slot.
  std::string_view symbolOf(VirtAddr slot) const;

 private:
  // By slot.
  std::unordered_map<std::uint64_t, std::uint64_t> m_functions;
  std::unordered_map<std::uint64_t, std::string_view> m_symbols;
};

}  // namespace traceback::instrument
