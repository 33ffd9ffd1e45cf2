#include "instrument/analysis/own_slots.h"

namespace traceback::instrument {

OwnSlots::OwnSlots(const Program& program) {
  const auto relocations = program.image->relocations();
  const auto symbols = program.image->dynamicSymbols();
  if (!relocations || !symbols) return;
  for (const loader::ElfRelocation& relocation : *relocations) {
    const bool isSlot = relocation.type == R_X86_64_JUMP_SLOT || relocation.type == R_X86_64_GLOB_DAT;
    if (!isSlot || relocation.symbol >= symbols->size()) continue;
    const loader::ElfSymbol& symbol = (*symbols)[relocation.symbol];
    m_symbols.emplace(relocation.address.value, symbol.name);
    // (What an IFUNC is bound to its resolver says.)
    if (symbol.defined() && symbol.type() == STT_FUNC)
      m_functions.emplace(relocation.address.value, symbol.address.value);
  }
}

std::optional<VirtAddr> OwnSlots::functionOf(VirtAddr slot) const {
  const auto found = m_functions.find(slot.value);
  return found == m_functions.end() ? std::nullopt : std::optional(VirtAddr{found->second});
}

std::string_view OwnSlots::symbolOf(VirtAddr slot) const {
  const auto found = m_symbols.find(slot.value);
  return found == m_symbols.end() ? std::string_view() : found->second;
}

}  // namespace traceback::instrument
