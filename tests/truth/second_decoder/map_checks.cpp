// Whether what the map says of a function agrees with its copy, and with itself.
#include <algorithm>
#include <cstddef>
#include <format>
#include <iterator>

#include "runtime/format/map.h"
#include "tests/truth/second_decoder/copy_checker.h"

namespace traceback::truth {

void CopyChecker::checkCompleteness(Line& line) {
  if ((m_file.map.flags & format::kMapIsNull) != 0) return;
  const InstrumentedFunction& function = *line.function;
  for (std::uint32_t i = 0; i < function.dags.size(); ++i) {
    const format::DagEntry& dag = function.dags[i];
    if (!line.headsSeen.contains(i))
      fail(line, function.entry.copy,
           std::format("no head for the DAG at {:#x}", function.blocks[dag.firstBlock].start));
  }
  for (std::uint32_t b = 0; b < function.blocks.size(); ++b)
    if (function.blocks[b].bit != format::kNoBit && !line.lightsSeen.contains(b))
      fail(line, function.entry.copy,
           std::format("no probe for the branch of the block at {:#x}", function.blocks[b].start));
  checkReached(line);
}

bool CopyChecker::isReached(const Line& line, std::uint64_t address) {
  const auto after = line.sizeOf.upper_bound(address);
  return after != line.sizeOf.begin() && address < std::prev(after)->first + std::prev(after)->second;
}

// The map leaves out what nothing leads to; so nothing that it has may.
void CopyChecker::checkReached(const Line& line) {
  for (std::size_t i = 0; i < line.original.size(); ++i) {
    const Effects& effects = line.original[i].effects;
    if (!isReached(line, effects.address)) continue;
    const auto leadsTo = [&](std::uint64_t address) {
      if (indexOf(line, address) == line.original.size() || isReached(line, address)) return;
      fail(line, line.function->entry.copy,
           std::format("{:#x} leads to {:#x}, where the map has no block", effects.address, address));
    };
    if (effects.leaves != Leaves::Call && effects.target != 0) leadsTo(effects.target);
    const bool mayStop = line.original[i].id == X86_INS_UD2 || line.original[i].id == X86_INS_HLT;
    if (effects.falls || effects.leaves == Leaves::Call || (effects.leaves == Leaves::Other && !mayStop))
      leadsTo(effects.address + effects.size);
  }
}

// How many bits a record may have set behind a block that leads past the head of another function.
unsigned CopyChecker::bitsPassed(const InstrumentedFunction& from, const format::BlockEntry& block) {
  const auto fail = [&](const char* what) {
    m_findings.add(
        std::format("{} ({:#x}): the block at {:#x} {}", from.name, from.entry.original, block.start, what));
    return 0U;
  };
  const std::uint64_t start = format::passedFunction(block);
  const auto into = std::ranges::lower_bound(m_file.functions, start, {},
                                             [](const InstrumentedFunction& f) { return f.entry.original; });
  if (into == m_file.functions.end() || into->entry.original != start || into->blocks.empty() ||
      into->blocks.front().start != start || (into->blocks.front().flags & format::kBlockHead) == 0)
    return fail("passes the head of no function");
  if (const auto known = m_bitsFrom.find(start); known != m_bitsFrom.end())
    return known->second ? *known->second : fail("passes the head of a function that its record may be in");
  checkBits(*into);
  return m_bitsFrom[start].value_or(0);
}

// That no two paths of a DAG have the same bits: each branch within it has one of its own, above those that
// may follow it, here and in other functions.
bool CopyChecker::checkBits(const InstrumentedFunction& function) {
  const auto fail = [&](const std::string& what) {
    m_findings.add(std::format("{} ({:#x}): {}", function.name, function.entry.original, what));
    return false;
  };
  std::optional<unsigned>& found = m_bitsFrom[function.entry.original];
  std::vector<unsigned> above(function.blocks.size());
  for (std::size_t b = function.blocks.size(); b-- > 0;) {
    const format::BlockEntry& block = function.blocks[b];
    const bool goesOn = block.end == format::BlockEnd::FallThrough || block.end == format::BlockEnd::Jump ||
                        block.end == format::BlockEnd::Branch;
    if (format::passesEntry(block)) above[b] = bitsPassed(function, block);
    bool inside = false;
    for (unsigned edge = 0; edge < 2; ++edge) {
      const std::uint32_t next = block.successor[edge];
      if (!goesOn || next >= function.blocks.size() ||
          ((function.blocks[next].flags & format::kBlockHead) != 0 && !format::passesHead(block, edge)))
        continue;
      inside = true;
      if (next <= b) return fail("its blocks are not in order");
      above[b] = std::max(above[b], above[next]);
    }
    if (block.end != format::BlockEnd::Branch && block.bit != format::kNoBit && !format::passesBySlot(block))
      return fail(std::format("the block at {:#x} has a bit, and no branch", block.start));
    if (block.end != format::BlockEnd::Branch && block.bit == format::kNoBit) continue;
    if (block.bit != format::kNoBit) {
      if (block.bit < above[b]) return fail(std::format("the block at {:#x} shares its bit", block.start));
      above[b] = block.bit + 1U;
    } else if (inside && block.successor[0] != block.successor[1]) {
      return fail(std::format("the branch of the block at {:#x} has no bit", block.start));
    }
  }
  found = above.empty() ? 0U : above.front();
  for (const format::DagEntry& dag : function.dags)
    if (dag.firstBlock < above.size() && above[dag.firstBlock] > dag.bits)
      fail(std::format("the DAG at {:#x} has too few bits", function.blocks[dag.firstBlock].start));
  return true;
}

void CopyChecker::checkPaths() {
  if ((m_file.map.flags & format::kMapIsNull) != 0) return;
  for (const InstrumentedFunction& function : m_file.functions)
    if (function.entry.copy != 0 && !m_bitsFrom.contains(function.entry.original)) checkBits(function);
}

}  // namespace traceback::truth
