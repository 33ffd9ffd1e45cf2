#include "instrument/analysis/indirect_targets.h"

#include <algorithm>

namespace traceback::instrument {

IndirectTargets::IndirectTargets(const Program& program, const Function& function) {
  if (!function.indirectTargets.empty()) m_functions.push_back(&function);
  for (const std::uint32_t number : function.kin) {
    const Function& other = program.functions[number];
    if (other.skip == format::SkipReason::None) m_functions.push_back(&other);
  }
}

std::optional<IndirectTargets::Place> IndirectTargets::at(VirtAddr address) const {
  for (const Function* f : m_functions)
    if (std::ranges::binary_search(f->indirectTargets, address)) return Place{f, f->blockAt(address)};
  return std::nullopt;
}

}  // namespace traceback::instrument
