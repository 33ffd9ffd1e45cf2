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
  checkBits(line);
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
      const auto to = std::ranges::lower_bound(line.original, address, {}, &Code::address);
      if (to == line.original.end() || to->address != address || isReached(line, address)) return;
      fail(line, line.function->entry.copy,
           std::format("{:#x} leads to {:#x}, where the map has no block", effects.address, address));
    };
    if (effects.leaves != Leaves::Call && effects.target != 0) leadsTo(effects.target);
    const bool mayStop = line.original[i].id == X86_INS_UD2 || line.original[i].id == X86_INS_HLT;
    if (effects.falls || effects.leaves == Leaves::Call || (effects.leaves == Leaves::Other && !mayStop))
      leadsTo(effects.address + effects.size);
  }
}

// That no two paths of a DAG have the same bits: each branch within it has one of its own, above those that
// may follow it.
void CopyChecker::checkBits(const Line& line) {
  const InstrumentedFunction& function = *line.function;
  std::vector<unsigned> above(function.blocks.size());
  for (std::size_t b = function.blocks.size(); b-- > 0;) {
    const format::BlockEntry& block = function.blocks[b];
    const bool goesOn = block.end == format::BlockEnd::FallThrough || block.end == format::BlockEnd::Jump ||
                        block.end == format::BlockEnd::Branch;
    bool inside = false;
    for (unsigned edge = 0; edge < 2; ++edge) {
      const std::uint32_t next = block.successor[edge];
      if (!goesOn || next >= function.blocks.size() ||
          ((function.blocks[next].flags & format::kBlockHead) != 0 && !format::passesHead(block, edge)))
        continue;
      inside = true;
      if (next <= b) return fail(line, function.entry.copy, "its blocks are not in order");
      above[b] = std::max(above[b], above[next]);
    }
    if (block.end != format::BlockEnd::Branch) continue;
    if (block.bit != format::kNoBit) {
      if (block.bit < above[b])
        return fail(line, function.entry.copy,
                    std::format("the branch of the block at {:#x} shares its bit", block.start));
      above[b] = block.bit + 1U;
    } else if (inside && block.successor[0] != block.successor[1]) {
      return fail(line, function.entry.copy,
                  std::format("the branch of the block at {:#x} has no bit", block.start));
    }
  }
  for (const format::DagEntry& dag : function.dags)
    if (above[dag.firstBlock] > dag.bits)
      fail(line, function.entry.copy,
           std::format("the DAG at {:#x} has too few bits", function.blocks[dag.firstBlock].start));
}

}  // namespace traceback::truth
