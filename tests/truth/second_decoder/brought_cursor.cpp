// Where the cursor is in xmm15 behind a call, since the copy that was called keeps it there up to its return.
#include <algorithm>
#include <format>
#include <iterator>

#include "runtime/format/module.h"
#include "runtime/format/ring.h"
#include "tests/truth/second_decoder/copy_checker.h"

namespace traceback::truth {

//   mov %fs:slot, r; movq (r), %xmm15; with a spill and a restore if r is needed
bool CopyChecker::checkCursorLoad(Line& line, const Needs& needs, bool& found) {
  found = false;
  const std::uint64_t start = line.pc;
  Code c, load;
  if (!code(line, c)) return false;
  const bool spills =
      c.id == X86_INS_MOV && c.memoryFirst && c.segment == X86_REG_FS && c.disp == format::kSpillSlot;
  const unsigned spilled = spills ? c.reg1 : 0U;
  if (spills) line.pc += c.size;
  if (!take(line, c) || c.id != X86_INS_MOV || c.segment != X86_REG_FS || c.memoryFirst ||
      c.disp != format::kThreadSlot || (spills && c.reg0 != spilled) || !take(line, load) ||
      load.id != X86_INS_MOVQ || load.reg0 != X86_REG_XMM15 || load.base != c.reg0 || load.disp != 0 ||
      !code(line, load) || load.id == X86_INS_PADDQ) {
    line.pc = start;
    return true;
  }
  found = true;
  line.scratch = 0;
  if (spills) {
    if (load.id != X86_INS_MOV || load.memoryFirst || load.segment != X86_REG_FS || load.reg0 != spilled ||
        load.disp != format::kSpillSlot)
      return fail(line, load.address, "a register is not restored; instead: " + text(load)), false;
    line.pc += load.size;
    return true;
  }
  const int number = registerNumber(c.reg0);
  if (number < 0) return fail(line, start, "no register for the cursor: " + text(c)), false;
  line.scratch = std::uint16_t(1U << unsigned(number));
  return checkScratch(line, start, needs, line.scratch, false);
}

// At the start of the copy:
//   movq %xmm15, reg; mov %fs:slot, s; cmp reg, (s); jne load; back:
bool CopyChecker::checkEntryComparison(Line& line, bool& found) {
  const std::uint64_t start = line.pc;
  Code copy, segment, compare, branch;
  if (!take(line, copy)) return false;
  found = copy.id == X86_INS_MOVQ && copy.reg1 == X86_REG_XMM15 && !copy.memory && take(line, segment) &&
          segment.id == X86_INS_MOV && segment.segment == X86_REG_FS && !segment.memoryFirst &&
          segment.disp == format::kThreadSlot && take(line, compare) && compare.id == X86_INS_CMP &&
          compare.memoryFirst && compare.reg1 == copy.reg0;
  if (!found) {
    line.pc = start;
    return true;
  }
  if (!take(line, branch)) return false;
  if (segment.reg0 == copy.reg0 || compare.base != segment.reg0 || compare.disp != 0 || compare.width != 8 ||
      branch.id != X86_INS_JNE)
    return fail(line, compare.address, "does not compare the cursor: " + text(compare) + "; " + text(branch)),
           false;
  line.comparison = {branch.target, line.pc, copy.reg0, segment.reg0};
  line.scratch = std::uint16_t(1U << registerNumber(copy.reg0) | 1U << registerNumber(segment.reg0));
  return checkScratch(line, start, line.needs->front(), line.scratch, true);
}

// Out of line: movq (s), %xmm15; mov (s), reg; jmp back
bool CopyChecker::checkEntryLoad(Line& line, std::uint64_t behindBlocks) {
  if (!line.comparison) return true;
  const Line::Comparison& from = *line.comparison;
  if (from.load < behindBlocks) return fail(line, from.load, "the cursor's load is among the blocks"), false;
  const std::uint64_t end = line.pc;
  line.pc = from.load;
  Code load, copy, jump;
  if (!take(line, load) || !take(line, copy) || !take(line, jump)) return false;
  if (load.id != X86_INS_MOVQ || load.reg0 != X86_REG_XMM15 || load.base != from.segment || load.disp != 0 ||
      copy.id != X86_INS_MOV || copy.memoryFirst || copy.reg0 != from.cursor || copy.base != from.segment ||
      copy.disp != 0 || jump.id != X86_INS_JMP || jump.target != from.back)
    return fail(line, load.address, "does not load the cursor: " + text(load) + "; " + text(copy)), false;
  m_places.push_back({from.load, 0, line.pc, line.original.front().address, 0});
  line.pc = std::max(end, line.pc);
  return true;
}

// The instruction in front, if that is a call; else null.
const Code* CopyChecker::callInFront(const Line& line, std::uint64_t original) {
  const auto due = std::ranges::lower_bound(line.original, original, {}, &Code::address);
  if (due == line.original.begin() || std::prev(due)->effects.leaves != Leaves::Call) return nullptr;
  return &*std::prev(due);
}

// A head takes the cursor from xmm15. If it stands behind a call, that has to have brought it.
void CopyChecker::awaitBrought(const Line& line, std::uint64_t original) {
  const Code* call = callInFront(line, original);
  if (call == nullptr || !isReached(line, call->address)) return;
  const auto bySlot = line.calledBySlot.find(call->address);
  const std::uint64_t callee = bySlot != line.calledBySlot.end() ? bySlot->second
                               : call->direct                    ? call->target
                                                                 : 0;
  m_awaitBrought[original] = {call->address, callee};
}

// What takes the cursor from xmm15 there can be made to load it, by one store.
bool CopyChecker::checkBroughtHead(Line& line, std::uint64_t at, unsigned reg, std::uint64_t original) {
  const auto entry = m_broughtHeads.find(at);
  if (entry == m_broughtHeads.end())
    return fail(line, at, "takes the cursor from xmm15 behind a call, and could not do otherwise"), false;
  const auto routine = m_routines.loads.find(entry->second);
  if (routine == m_routines.loads.end() || registerNumber(reg) != int(routine->second.reg))
    return fail(line, at, "what it would call instead loads another register"), false;
  if (line.pc - at != format::kBroughtHeadSize || at % 8 + format::kBroughtHeadSize > 8)
    return fail(line, at, "cannot be replaced at once"), false;
  m_broughtHeadsSeen.insert(at);
  awaitBrought(line, original);
  return checkRoutinesStack(line, at, true);
}

// Where the function's code leads out of it, other than by returns and calls.
void CopyChecker::noteExits(const Line& line) {
  const format::FunctionEntry& entry = line.function->entry;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> exits;
  for (const Code& code : line.original) {
    if (!isReached(line, code.address)) continue;
    const bool isCall = code.effects.leaves == Leaves::Call;
    if (code.id == X86_INS_JMP && !code.direct) return;
    if (isCall || !code.direct) continue;
    if (code.target < entry.original || code.target - entry.original >= entry.originalSize)
      exits.emplace_back(code.address, code.target);
  }
  const Code& last = line.original.back();
  if (isReached(line, last.address) && !endsFlow(last.id) && last.effects.leaves != Leaves::Call) return;
  m_bringers[entry.original] = std::move(exits);
}

bool CopyChecker::leadsToBringer(std::uint64_t original) const {
  const auto after = m_keepers.upper_bound(original);
  return isWithinKeeper(original) && m_bringers.contains(std::prev(after)->first);
}

// Once it is known which jumps and calls lead to original code, and which functions keep the cursor.
void CopyChecker::checkBrought() {
  const auto mayLoseIt = [this](const auto& bringer) {
    if (!m_keepers.contains(bringer.first)) return true;
    return std::ranges::any_of(bringer.second, [this](const auto& exit) {
      return m_stayOriginal.contains(exit.first) || !leadsToBringer(exit.second);
    });
  };
  while (std::erase_if(m_bringers, mayLoseIt) != 0) {
  }
  for (const auto& [original, brought] : m_awaitBrought)
    if (!m_bringers.contains(brought.callee) || m_stayOriginal.contains(brought.call))
      m_findings.add(std::format("at {:#x}: behind the call at {:#x} the cursor need not be in xmm15",
                                 original, brought.call));
  if (m_broken.empty() && m_broughtHeadsSeen.size() != m_broughtHeads.size())
    m_findings.add(
        std::format("of {} brought heads there are {}", m_broughtHeads.size(), m_broughtHeadsSeen.size()));
}

}  // namespace traceback::truth
