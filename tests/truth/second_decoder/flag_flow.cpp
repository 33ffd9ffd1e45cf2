#include "tests/truth/second_decoder/flag_flow.h"

#include <algorithm>
#include <cstring>

namespace traceback::truth {

FlagFlow::FlagFlow(const ElfFile& original, const std::vector<InstrumentedFunction>& functions)
    : m_functions(functions),
      m_code(functions.size()),
      m_starts(functions.size()),
      m_needs(functions.size()) {
  Decoder decoder;
  std::vector<std::uint64_t> named;  // addresses that the file names somehow
  const auto name = [&](std::uint64_t address) {
    const auto found = std::ranges::lower_bound(functions, address, {},
                                                [](const auto& function) { return function.entry.original; });
    if (found != functions.end() && found->entry.original == address) named.push_back(address);
  };
  for (const Elf64_Phdr& segment : original.segments()) {
    const auto bytes = original.at(segment.p_vaddr, segment.p_filesz);
    if (segment.p_type != PT_LOAD || !bytes) continue;
    // Pointers in data, addends of relocations and values of symbols are all aligned words.
    for (std::size_t at = (8 - segment.p_vaddr % 8) % 8; at + 8 <= bytes->size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes->data() + at, 8);
      if (word != 0) name(word);
    }
  }
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const format::FunctionEntry& entry = functions[i].entry;
    const auto bytes = original.at(entry.original, entry.originalSize);
    if (!bytes) continue;
    for (std::uint64_t at = 0; at < bytes->size();) {
      Code code;
      if (!decoder.decode(bytes->subspan(at), entry.original + at, code)) {
        m_code[i].clear();
        break;
      }
      m_code[i].push_back(code.effects);
      if (code.id == X86_INS_LEA) name(code.ripTarget);
      if (!code.direct && code.imm != 0) name(code.imm);
      at += code.size;
    }
    for (const Effects& effects : m_code[i]) m_starts[i].push_back(effects.address);
    for (const Effects& effects : m_code[i])
      if (effects.target != 0 && effects.leaves != Leaves::Call) m_targets.push_back(effects.target);
  }
  for (const auto& code : m_code)
    for (const Effects& effects : code)
      if (effects.target != 0 && !isRead(original, decoder, effects.target)) m_unread.insert(effects.target);
  std::ranges::sort(named);
  for (const InstrumentedFunction& function : functions)
    m_named.push_back(std::ranges::binary_search(named, function.entry.original));
  std::ranges::sort(m_targets);
  m_targets.erase(std::unique(m_targets.begin(), m_targets.end()), m_targets.end());
  // From "no flag crosses anywhere" up to what is consistent.
  while (round()) {
  }
  m_code.clear();
}

// Whether it is known what is there: a function of the map's that decodes, or a jump to another module.
bool FlagFlow::isRead(const ElfFile& original, Decoder& decoder, std::uint64_t address) const {
  const auto function = std::ranges::lower_bound(m_functions, functionOf(address), {},
                                                 [](const auto& f) { return f.entry.original; });
  if (function != m_functions.end() && function->entry.original == functionOf(address) &&
      function->entry.originalSize != 0)
    return !m_code[std::size_t(function - m_functions.begin())].empty();
  for (int i = 0; i < 2; ++i) {
    Code code;
    const auto bytes = original.at(address, 15);
    if (!bytes || !decoder.decode(*bytes, address, code)) return false;
    if (code.id != X86_INS_ENDBR64) return code.id == X86_INS_JMP && code.ripOffset != 0;
    address += code.size;
  }
  return false;
}

// The start of the function that has it, or itself if none does.
std::uint64_t FlagFlow::functionOf(std::uint64_t address) const {
  const auto after =
      std::ranges::upper_bound(m_functions, address, {}, [](const auto& f) { return f.entry.original; });
  if (after == m_functions.begin()) return address;
  const format::FunctionEntry& entry = std::prev(after)->entry;
  return address - entry.original < entry.originalSize ? entry.original : address;
}

const Needs* FlagFlow::needsAt(std::uint64_t address) const {
  const auto after =
      std::ranges::upper_bound(m_functions, address, {}, [](const auto& f) { return f.entry.original; });
  if (after == m_functions.begin()) return nullptr;
  const auto index = std::size_t(std::prev(after) - m_functions.begin());
  const auto& starts = m_starts[index];
  const auto found = std::ranges::lower_bound(starts, address);
  if (found == starts.end() || *found != address || m_needs[index].empty()) return nullptr;
  return &m_needs[index][std::size_t(found - starts.begin())];
}

std::uint8_t FlagFlow::flagsAt(std::uint64_t address) const {
  const Needs* needs = needsAt(address);
  if (needs == nullptr) return m_onIndirectEntry;  // a stub, or another module's
  return std::uint8_t(needs->flags & ~kXmm15Beyond);
}

namespace {

// What is needed behind a call, as whoever is called has it.
std::uint8_t beyond(std::uint8_t behind) {
  return std::uint8_t((behind & kXmm15) != 0 ? (behind & ~kXmm15) | kXmm15Beyond : behind);
}

}  // namespace

bool FlagFlow::round() {
  bool changed = false;
  const auto grow = [&changed](std::uint8_t& set, std::uint8_t flags) {
    if ((flags & ~set) == 0) return;
    set |= flags;
    changed = true;
  };
  const auto returns = [&](std::uint64_t to, std::uint8_t flags) {
    grow(m_onReturnOf[functionOf(to)], flags);
    if ((flags & kXmm15Beyond) != 0 && m_unread.contains(to)) grow(m_onReturn, kXmm15);
  };
  for (std::size_t i = 0; i < m_code.size(); ++i) {
    const auto& code = m_code[i];
    if (code.empty()) continue;
    FlagsElsewhere elsewhere;
    elsewhere.at = [this](std::uint64_t address) { return flagsAt(address); };
    elsewhere.onIndirectEntry = m_onIndirectEntry;
    elsewhere.onReturn = m_onReturn;
    const std::uint64_t start = code.front().address;
    if (const auto known = m_onReturnOf.find(start); known != m_onReturnOf.end())
      elsewhere.onReturn |= known->second;
    auto needs = liveBefore(code, elsewhere);
    if (m_needs[i].empty() || !std::ranges::equal(needs, m_needs[i], {}, &Needs::flags, &Needs::flags))
      changed = true;
    m_needs[i] = std::move(needs);
    if (m_named[i] && m_functions[i].entry.skipReason != std::uint32_t(format::SkipReason::StartupCode))
      grow(m_onIndirectEntry, std::uint8_t(m_needs[i].front().flags & ~kXmm15Beyond));
    for (std::size_t k = 0; k + 1 < code.size(); ++k) {
      const Effects& effects = code[k];
      if (effects.leaves == Leaves::Call) {
        const std::uint8_t behind = m_needs[i][k + 1].flags;
        if (behind == 0) continue;
        // What is also jumped to has its flags from there: calls that never come back stand before such.
        if (effects.target != 0)
          returns(effects.target, beyond(behind));
        else if (!std::ranges::binary_search(m_targets, code[k + 1].address))
          grow(m_onReturn, std::uint8_t(behind & ~kXmm15Beyond));
      }
    }
    if (elsewhere.onReturn == 0) continue;
    // What it goes on to returns in its place.
    for (const Effects& effects : code)
      if (effects.target != 0 && effects.leaves == Leaves::Not) returns(effects.target, elsewhere.onReturn);
    if (const Effects& last = code.back(); last.falls) returns(last.address + last.size, elsewhere.onReturn);
  }
  return changed;
}

}  // namespace traceback::truth
