// Where control goes between blocks, and the probes that stand on the way.
#include <algorithm>
#include <cstddef>
#include <format>

#include "runtime/format/map.h"
#include "tests/truth/second_decoder/copy_checker.h"

namespace traceback::truth {

// What is needed there, in the function or out of it.
Needs CopyChecker::needsAt(const Line& line, std::uint64_t address) const {
  const std::size_t index = indexOf(line, address);
  return index == line.original.size() ? m_flags.at(address) : (*line.needs)[index];
}

std::size_t CopyChecker::indexOf(const Line& line, std::uint64_t address) {
  const auto found = std::ranges::lower_bound(line.original, address, {}, &Code::address);
  if (found == line.original.end() || found->address != address) return line.original.size();
  return std::size_t(found - line.original.begin());
}

// Whether the branch's bit is set on its taken edge, by a probe that is no part of the block it leads to.
bool CopyChecker::setsBitOutOfLine(const Line& line, std::uint64_t branch, std::uint32_t& block) const {
  const auto found = line.withBit.find(branch);
  if (found == line.withBit.end()) return false;
  block = found->second;
  const auto& blocks = line.function->blocks;
  if ((blocks[block].flags & format::kBlockBitTaken) == 0) return false;
  const std::uint32_t to = blocks[block].successor[0];
  return to >= blocks.size() || (blocks[to].flags & format::kBlockHead) != 0 || line.predecessors[to] != 1;
}

void CopyChecker::transfer(Line& line, const Code& original, std::uint64_t from, std::uint64_t to,
                           bool mayStay) {
  if (!isReached(line, original.address)) return;  // wherever it leads: it is never executed in the copy
  std::uint32_t block = 0;
  if ((m_file.map.flags & format::kMapIsNull) == 0 && setsBitOutOfLine(line, original.address, block))
    line.takenEdges[block] = to;
  else
    m_obligations.push_back({from, to, original.target, mayStay, original.address, line.keeps.value_or(false),
                             passesHead(line, original)});
}

// Whether the map says that the record goes on where the jump, branch or call leads, past a head's probe; or
// where a branch goes on if it is not taken.
bool CopyChecker::passesHead(const Line& line, const Code& jump, unsigned edge) {
  const auto at = line.blockBefore.find(jump.address + jump.size);
  if (at == line.blockBefore.end()) return false;
  const format::BlockEntry& block = line.function->blocks[at->second];
  return format::passesEntry(block) ||
         (block.end != format::BlockEnd::Call && format::passesHead(block, edge));
}

// Null if there is none, or no probes are.
const format::BlockEntry* CopyChecker::headAt(const Line& line, std::uint64_t original) const {
  if ((m_file.map.flags & format::kMapIsNull) != 0) return nullptr;
  const auto at = line.blockAt.find(original);
  if (at == line.blockAt.end()) return nullptr;
  const format::BlockEntry& block = line.function->blocks[at->second];
  return (block.flags & format::kBlockHead) != 0 ? &block : nullptr;
}

// A jump past the probe that stands in front of the instruction, and stands for just that one itself.
bool CopyChecker::checkPassing(Line& line, std::uint64_t original, bool& found) {
  found = false;
  const auto [origin, fixed] = originOf(*line.function, line.pc);
  Code jump;
  if (origin != original || fixed || !code(line, jump) || jump.id != X86_INS_JMP || !jump.direct) return true;
  found = true;
  line.pc += jump.size;
  m_obligations.push_back({jump.address, jump.target, original, false, 0, line.keeps.value_or(false), true});
  m_places.push_back({jump.address, 0, line.pc, original, 0});
  return true;
}

// In front of an instruction: the probe of a branch that leads there when taken. Nothing else may.
bool CopyChecker::checkProbeOfBranchTo(Line& line, std::uint64_t branch, const Code& target) {
  const auto& blocks = line.function->blocks;
  const auto from = line.withBit.find(branch);
  const auto to = line.blockAt.find(target.address);
  std::uint32_t block = 0;
  if (from == line.withBit.end() || to == line.blockAt.end() || setsBitOutOfLine(line, branch, block) ||
      (blocks[from->second].flags & format::kBlockBitTaken) == 0 ||
      blocks[from->second].successor[0] != to->second)
    return fail(line, line.pc,
                std::format("stands for {:#x}, but {:#x} is due ({})", branch, target.address, text(target))),
           false;
  if (fallsOnFromAbove(line) && !(line.inverted && line.original[*line.above].address == branch))
    return fail(line, line.pc, "control also comes from above to where a branch's bit is set"), false;
  m_onlyBy[target.address] = branch;
  const std::uint64_t start = line.pc;
  bool found = false;
  if (!checkProbe(line, Probe::Light, branch, (*line.needs)[line.next], found)) return false;
  if (!found) return fail(line, start, "no probe"), false;
  m_places.push_back({start, 0, line.pc, branch, 0, line.scratch, true});
  return true;
}

// Behind a branch: its probe, if its bit says that it was not taken; or was, if that is what follows, unless
// it is set there.
bool CopyChecker::checkProbeBehind(Line& line, const Code& branch) {
  const auto block = line.withBit.find(branch.address);
  if (block == line.withBit.end() || blockBySlot(line, branch) != nullptr ||
      (m_file.map.flags & format::kMapIsNull) != 0)
    return true;
  const bool taken = (line.function->blocks[block->second].flags & format::kBlockBitTaken) != 0;
  std::uint32_t outOfLine = 0;
  if (taken != line.inverted || (taken && !setsBitOutOfLine(line, branch.address, outOfLine))) return true;
  const auto [origin, fixed] = originOf(*line.function, line.pc);
  if (origin != branch.address || !fixed) return fail(line, line.pc, "no probe behind the branch"), false;
  const std::uint64_t start = line.pc;
  bool found = false;
  line.scratch = 0;
  if (!checkProbe(line, Probe::Light, branch.address,
                  needsAt(line, taken ? branch.target : branch.address + branch.size), found))
    return false;
  if (!found) return fail(line, start, "no probe behind the branch"), false;
  m_places.push_back({start, 0, line.pc, branch.address, 0, line.scratch, true});
  return true;
}

// Behind all blocks: a probe for each branch that leads there, and a jump to where the branch led.
bool CopyChecker::checkTakenEdges(Line& line) {
  const std::uint64_t behindBlocks = line.pc;
  std::uint64_t end = behindBlocks;
  for (const auto& [index, at] : line.takenEdges) {
    const format::BlockEntry& block = line.function->blocks[index];
    const auto branch = std::ranges::find_if(line.original, [&](const Code& code) {
      return code.address + code.size == block.start + block.size;
    });
    if (at < behindBlocks || branch == line.original.end())
      return fail(line, at, "a branch's probe is among the blocks"), false;
    const auto [origin, fixed] = originOf(*line.function, at);
    if (origin != branch->address || !fixed)
      return fail(line, at, "a branch's probe stands for something else"), false;
    const bool taken = (block.flags & format::kBlockBitTaken) != 0;
    const std::uint64_t target = taken ? branch->target : branch->address + branch->size;
    line.pc = at;
    line.scratch = 0;
    bool found = false;
    if (!checkProbe(line, Probe::Light, branch->address, needsAt(line, target), found)) return false;
    Code jump;
    if (!found || !take(line, jump)) return fail(line, at, "no probe where a branch leads"), false;
    if (jump.id != X86_INS_JMP || !jump.direct)
      return fail(line, jump.address, "does not go on: " + text(jump)), false;
    const format::FunctionEntry& entry = line.function->entry;
    const bool inside = target >= entry.original && target - entry.original < entry.originalSize;
    m_obligations.push_back({jump.address, jump.target, target, !inside, branch->address,
                             line.keeps.value_or(false), passesHead(line, *branch, taken ? 0 : 1)});
    m_places.push_back({at, 0, line.pc, branch->address, 0, line.scratch, true});
    end = std::max(end, line.pc);
  }
  line.pc = end;
  return true;
}

// Behind those: the probes of heads that are not among the blocks, each with a jump to its block.
bool CopyChecker::checkHeadsApart(Line& line) {
  for (std::size_t left = line.headsApart.size(); left > 0; --left) {
    const auto [origin, fixed] = originOf(*line.function, line.pc);
    const auto block = line.blockAt.find(origin);
    const auto awaited =
        block == line.blockAt.end() ? line.headsApart.end() : line.headsApart.find(block->second);
    const auto original = std::ranges::lower_bound(line.original, origin, {}, &Code::address);
    if (!fixed || awaited == line.headsApart.end() || original == line.original.end())
      return fail(line, line.pc, "the probe of a head is missing"), false;
    const std::uint64_t start = line.pc;
    line.next = std::size_t(original - line.original.begin());
    line.scratch = 0;
    bool found = false;
    if (!checkProbe(line, Probe::Head, origin, (*line.needs)[line.next], found)) return false;
    if (!found) return fail(line, start, "the probe of a head is missing"), false;
    m_copies[awaited->second].second = start;
    m_places.push_back({start, 0, line.pc, origin, 0, line.scratch});
    if (!checkPassing(line, origin, found)) return false;
    if (!found) return fail(line, line.pc, "a head's probe does not lead to its block"), false;
    line.headsApart.erase(awaited);
  }
  line.next = line.original.size();
  return true;
}

}  // namespace traceback::truth
