#include "tests/truth/second_decoder/flag_flow.h"

#include <algorithm>
#include <cstring>

#include "tests/truth/second_decoder/unseen_callers.h"

namespace traceback::truth {

namespace {

// A jump to another module.
bool isStubAt(const ElfFile& original, Decoder& decoder, std::uint64_t address) {
  for (int i = 0; i < 2; ++i) {
    Code code;
    const auto bytes = original.at(address, 15);
    if (!bytes || !decoder.decode(*bytes, address, code)) return false;
    if (code.id != X86_INS_ENDBR64) return code.id == X86_INS_JMP && code.ripOffset != 0;
    address += code.size;
  }
  return false;
}

}  // namespace

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
      if (code.ripOffset != 0 && code.effects.target == 0 && code.effects.leaves != Leaves::Not)
        m_code[i].back().pointer = code.ripTarget;
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
  for (const auto& code : m_code)
    for (const Effects& effects : code)
      if (effects.target != 0 && mayBeStub(effects.target) && isStubAt(original, decoder, effects.target))
        m_stubs.insert(effects.target);
  m_onReturnOf.resize(functions.size());
  m_due.assign(functions.size(), true);
  findUsers();
  findConventions();
  findUnseenCallers(original);
  // From "nothing crosses anywhere" up to what is consistent.
  while (round()) {
  }
  for (std::size_t i = 0; i < m_code.size(); ++i)
    for (std::size_t k = 0; k + 1 < m_code[i].size(); ++k) {
      const Effects& call = m_code[i][k];
      if (call.leaves == Leaves::Call)
        m_lost[call.address + call.size] = {isStub(call.target) ? 0 : call.target,
                                            std::uint16_t(~kResults & ~m_needs[i][k + 1].registers)};
    }
  m_code.clear();
  for (auto& needs : m_needs)
    for (Needs& one : needs) one.registers |= one.maybe;
}

// Whether it is known what is there: a function of the map's that decodes, or a jump to another module.
bool FlagFlow::isRead(const ElfFile& original, Decoder& decoder, std::uint64_t address) const {
  const auto function = std::ranges::lower_bound(m_functions, functionOf(address), {},
                                                 [](const auto& f) { return f.entry.original; });
  if (function != m_functions.end() && function->entry.original == functionOf(address) &&
      function->entry.originalSize != 0)
    return !m_code[std::size_t(function - m_functions.begin())].empty();
  return isStubAt(original, decoder, address);
}

// The start of the function that has it, or itself if none does.
std::uint64_t FlagFlow::functionOf(std::uint64_t address) const {
  const auto after =
      std::ranges::upper_bound(m_functions, address, {}, [](const auto& f) { return f.entry.original; });
  if (after == m_functions.begin()) return address;
  const format::FunctionEntry& entry = std::prev(after)->entry;
  return address - entry.original < entry.originalSize ? entry.original : address;
}

std::uint16_t FlagFlow::lostAt(std::uint64_t address, std::uint64_t from) const {
  const auto found = m_lost.find(address);
  if (found == m_lost.end()) return 0;
  const auto& [callee, registers] = found->second;
  return callee == 0 || functionOf(callee) != functionOf(from) ? registers : std::uint16_t{0};
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

// The function that has it; none: their number.
std::size_t FlagFlow::indexOf(std::uint64_t address) const {
  const auto found = std::ranges::lower_bound(m_functions, functionOf(address), {},
                                              [](const auto& f) { return f.entry.original; });
  const bool has = found != m_functions.end() && found->entry.original == functionOf(address) &&
                   found->entry.originalSize != 0;
  return has ? std::size_t(found - m_functions.begin()) : m_functions.size();
}

bool FlagFlow::mayBeStub(std::uint64_t address) const {
  const std::size_t index = indexOf(address);
  return index == m_functions.size() ||
         m_functions[index].entry.skipReason == std::uint32_t(format::SkipReason::StartupCode);
}

Needs FlagFlow::at(std::uint64_t address) const {
  if (isStub(address)) return {0, m_onIndirectEntry.flags, kArguments};
  if (const Needs* needs = needsAt(address); needs != nullptr)
    return {needs->registers, std::uint8_t(needs->flags & ~kXmm15Beyond), needs->maybe};
  const bool isUnseen = indexOf(address) == m_functions.size();
  return {0, m_onIndirectEntry.flags, isUnseen ? kEveryRegister : std::uint16_t{0}};
}

void FlagFlow::findUsers() {
  m_users.resize(m_functions.size());
  for (std::size_t i = 0; i < m_code.size(); ++i) {
    const auto uses = [&](std::uint64_t address, bool bySelf) {
      const std::size_t used = indexOf(address);
      if (used == m_functions.size() || (used == i && !bySelf)) return;
      if (m_users[used].empty() || m_users[used].back() != i) m_users[used].push_back(i);
    };
    for (const Effects& effects : m_code[i])
      if (effects.target != 0) uses(effects.target, effects.leaves == Leaves::Call);
    if (!m_code[i].empty()) uses(m_code[i].back().address + m_code[i].back().size, false);
  }
}

// Of what was there before: in the code from there up to where it leads elsewhere, or somebody comes to.
std::uint16_t FlagFlow::readAtOnce(const std::vector<Effects>& code, std::size_t from) const {
  std::uint16_t read = 0, touched = 0;
  for (std::size_t i = from; i < code.size(); ++i) {
    const Effects& effects = code[i];
    if (i != from && std::ranges::binary_search(m_targets, effects.address)) break;
    const bool isKnown = effects.reads.registers != kEveryRegister && effects.leaves != Leaves::Other;
    if (!effects.pushes && isKnown)
      read = std::uint16_t(read | (effects.reads.registers & ~unsigned{effects.mayLeave} & ~touched));
    touched |= effects.touches;
    if (effects.leaves != Leaves::Not || effects.target != 0) break;
  }
  return read;
}

void FlagFlow::findConventions() {
  std::unordered_set<std::uint64_t> called;
  for (const auto& code : m_code)
    for (const Effects& effects : code)
      if (effects.leaves == Leaves::Call) called.insert(effects.target);
  for (std::size_t i = 0; i < m_code.size(); ++i) {
    const auto& code = m_code[i];
    if (m_named[i] && !code.empty()) {
      m_onIndirectEntry |= {std::uint16_t(readAtOnce(code, 0) & kLinkers)};
      m_onReturnOf[i].maybe = takesOtherRegisters(code) ? kEveryRegister : restoredRegisters(code);
    }
    // (Into a part that was moved away, which nobody names or calls, the rest's tables lead.)
    const bool isPart = !m_named[i] && !code.empty() && !called.contains(code.front().address);
    const bool byTable = isPart || std::ranges::any_of(code, [](const Effects& effects) {
                           return effects.leaves == Leaves::Jump && effects.pointer == 0;
                         });
    for (std::size_t k = 0; k + 1 < code.size(); ++k) {
      const Effects& call = code[k];
      if (call.leaves != Leaves::Call || (call.target != 0 && !isStub(call.target))) continue;
      // Calls that never come back stand before what is jumped to, perhaps by a table, or where an exception
      // leads.
      const bool jumpedTo = byTable || std::ranges::binary_search(m_targets, code[k + 1].address);
      if (jumpedTo && (call.target != 0 || call.pointer != 0)) continue;
      m_onReturn |= {std::uint16_t(readAtOnce(code, k + 1) & ~kResults)};
    }
  }
}

// Whatever looks like a call or jump, outside of all functions, may expect everything to be left alone.
void FlagFlow::findUnseenCallers(const ElfFile& original) {
  for (const Elf64_Phdr& segment : original.segments()) {
    const auto bytes = original.at(segment.p_vaddr, segment.p_filesz);
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 || !bytes) continue;
    for (std::size_t at = 0; at + 5 <= bytes->size(); ++at) {
      const unsigned opcode = (*bytes)[at];
      if ((opcode != 0xE8 && opcode != 0xE9) || indexOf(segment.p_vaddr + at) != m_functions.size()) continue;
      std::int32_t distance = 0;
      std::memcpy(&distance, bytes->data() + at + 1, 4);
      const std::size_t called = indexOf(segment.p_vaddr + at + 5 + std::uint64_t(std::int64_t{distance}));
      if (called != m_functions.size()) m_onReturnOf[called].maybe = kEveryRegister;
    }
  }
}

namespace {

// What is needed behind a call, as whoever is called has it.
std::uint8_t beyond(std::uint8_t behind) {
  return std::uint8_t((behind & kXmm15) != 0 ? (behind & ~kXmm15) | kXmm15Beyond : behind);
}

bool grow(Needs& set, const Needs& needs) {
  const Needs before = set;
  set |= needs;
  return set != before;
}

}  // namespace

bool FlagFlow::round() {
  bool all = false;
  const auto growEverywhere = [&all](Needs& set, const Needs& needs) { all |= grow(set, needs); };
  const auto returns = [&](std::uint64_t to, const Needs& needs) {
    const std::size_t index = indexOf(to);
    if (index != m_functions.size() && grow(m_onReturnOf[index], needs)) m_due[index] = true;
    if ((needs.flags & kXmm15Beyond) != 0 && m_unread.contains(to)) growEverywhere(m_onReturn, {0, kXmm15});
  };
  Elsewhere elsewhere;
  elsewhere.at = [this](std::uint64_t address) { return at(address); };
  elsewhere.isStub = [this](std::uint64_t address) { return isStub(address); };
  bool any = false;
  for (std::size_t i = 0; i < m_code.size(); ++i) {
    const auto& code = m_code[i];
    if (code.empty() || !m_due[i]) continue;
    any = true;
    m_due[i] = false;
    elsewhere.onIndirectEntry = m_onIndirectEntry;
    elsewhere.onReturn = m_onReturn;
    elsewhere.onReturn |= m_onReturnOf[i];
    elsewhere.onReturn.maybe |= kResults;
    auto needs = liveBefore(code, elsewhere);
    if (needs != m_needs[i])
      for (const std::size_t user : m_users[i]) m_due[user] = true;
    m_needs[i] = std::move(needs);
    if (m_named[i] && m_functions[i].entry.skipReason != std::uint32_t(format::SkipReason::StartupCode))
      growEverywhere(m_onIndirectEntry, {0, std::uint8_t(m_needs[i].front().flags & ~kXmm15Beyond)});
    for (std::size_t k = 0; k + 1 < code.size(); ++k) {
      const Effects& effects = code[k];
      if (effects.leaves == Leaves::Call) {
        Needs behind = m_needs[i][k + 1];
        behind.registers &= ~kResults;
        behind.maybe &= ~kResults;
        // What is also jumped to has its flags from there: calls that never come back stand before such.
        if (effects.target != 0)
          returns(effects.target, {behind.registers, beyond(behind.flags), behind.maybe});
        else if (!std::ranges::binary_search(m_targets, code[k + 1].address))
          growEverywhere(m_onReturn, {0, std::uint8_t(behind.flags & ~kXmm15Beyond)});
      }
    }
    Needs onReturn = m_onReturnOf[i];
    onReturn.flags |= m_onReturn.flags;
    if (onReturn == Needs{}) continue;
    // What it goes on to returns in its place.
    for (const Effects& effects : code)
      if (effects.target != 0 && effects.leaves == Leaves::Not) returns(effects.target, onReturn);
    if (const Effects& last = code.back(); last.falls) returns(last.address + last.size, onReturn);
  }
  if (all) m_due.assign(m_due.size(), true);
  return any || all;
}

}  // namespace traceback::truth
