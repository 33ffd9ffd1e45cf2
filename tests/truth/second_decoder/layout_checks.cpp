// In which order the blocks of a copy stand: any, as long as control goes on where it did.
#include <algorithm>
#include <cstddef>
#include <format>
#include <iterator>
#include <optional>

#include "runtime/format/map.h"
#include "tests/truth/second_decoder/copy_checker.h"

namespace traceback::truth {

// Whether control comes to the instruction that is due from the one in front of its copy.
bool CopyChecker::fallsOnFromAbove(const Line& line) {
  return line.above && isReached(line, line.original[*line.above].address);
}

// What stands at pc. Control falls to the instruction behind the one above, or to where that led if it was
// turned round; but where a block ends, a jump may lead there instead. Then anything may follow that was not
// met.
bool CopyChecker::findDue(Line& line) {
  if (line.above) {
    const Code& above = line.original[*line.above];
    line.next = line.inverted ? indexOf(line, above.target) : *line.above + 1;
    bool elsewhere = false;
    if (line.next == line.original.size())
      return fail(line, line.pc, "control falls out of the function"), false;
    if (!line.inverted && !goesOnElsewhere(line, line.original[line.next].address, elsewhere)) return false;
    if (!elsewhere) {
      if (line.copied[line.next])
        return fail(line, line.pc, "control falls to what does not follow: " + text(above)), false;
      return true;
    }
    line.above.reset();
  }
  const std::uint64_t due = beginsAt(line, line.pc);
  line.next = indexOf(line, due);
  if (line.next == line.original.size() || line.copied[line.next])
    return fail(line, line.pc, std::format("stands for {:#x}, which is not due", due)), false;
  return true;
}

// The instruction to which whoever comes there in the copy has come: where a branch leads, its bit may be set
// in front. That probe has no jump in it, at most a call, and what stands for the branch in its own place
// has.
std::uint64_t CopyChecker::beginsAt(const Line& line, std::uint64_t at) {
  const std::uint64_t origin = originOf(*line.function, at).first;
  const auto& blocks = line.function->blocks;
  const auto branch = line.withBit.find(origin);
  std::uint32_t block = 0;
  if (branch == line.withBit.end() || blocks[branch->second].end != format::BlockEnd::Branch ||
      setsBitOutOfLine(line, origin, block))
    return origin;
  for (Code c; originOf(*line.function, at).first == origin; at += c.size)
    if (!decode(m_file.elf, at, line.end, c) || (c.direct && c.id != X86_INS_CALL)) return origin;
  const std::uint32_t to = blocks[branch->second].successor[0];
  return to < blocks.size() ? blocks[to].start : origin;
}

// Whether all of [from, to) stands for that instruction: a jump over it passes the instruction's own probe.
bool CopyChecker::standsThroughout(const InstrumentedFunction& function, std::uint64_t from, std::uint64_t to,
                                   std::uint64_t original) const {
  if (from >= to) return false;
  auto entry = std::prev(std::ranges::upper_bound(function.addresses, from, {}, &format::AddressEntry::copy));
  for (; entry != function.addresses.end() && entry->copy < to; ++entry)
    if (originOf(function, std::max<std::uint64_t>(entry->copy, from)).first != original) return false;
  return true;
}

// A jump to the copy of what follows in the original: in front of its probe if there is one, and stands for
// that place; or past it, and then stands for the instruction.
bool CopyChecker::goesOnElsewhere(Line& line, std::uint64_t original, bool& found) {
  const auto [origin, fixed] = originOf(*line.function, line.pc);
  Code jump;
  if (!code(line, jump)) return false;
  found = origin == original && jump.id == X86_INS_JMP && jump.direct && jump.target != jump.address &&
          jump.target >= line.function->entry.copy && jump.target < line.end &&
          beginsAt(line, jump.target) == original &&
          !standsThroughout(*line.function, jump.address + jump.size, jump.target, original);
  if (!found) return true;
  const bool passes = fallsOnFromAbove(line) && fallsPast(line);
  if (fixed == passes)
    return fail(line, jump.address, "a jump that does not say where it has come to"), false;
  line.pc += jump.size;
  if (fallsOnFromAbove(line))  // else it is never executed
    m_obligations.push_back(
        {jump.address, jump.target, original, false, 0, line.keeps.value_or(false), passes});
  m_places.push_back({jump.address, 0, line.pc, original, 0});
  return true;
}

// Whether the map says that the record goes on from the block above, past the probe of what is due.
bool CopyChecker::fallsPast(const Line& line) {
  const Code& last = line.original[*line.above];
  const auto above = line.blockBefore.find(last.address + last.size);
  if (above == line.blockBefore.end()) return false;
  const format::BlockEntry& block = line.function->blocks[above->second];
  return format::passesHead(block, block.end == format::BlockEnd::Branch && !line.inverted ? 1 : 0);
}

// A branch that leads to what followed the original's: what that led to follows.
bool CopyChecker::checkInverted(Line& line, const Code& original, const Code& copy) {
  if (line.next + 1 == line.original.size())
    return fail(line, copy.address, "a branch with nothing behind it was turned round"), false;
  line.inverted = true;
  const auto block = line.withBit.find(original.address);
  if ((m_file.map.flags & format::kMapIsNull) == 0 && block != line.withBit.end() &&
      (line.function->blocks[block->second].flags & format::kBlockBitTaken) == 0)
    line.takenEdges[block->second] = copy.target;
  else
    m_obligations.push_back({copy.address, copy.target, original.address + original.size, false,
                             original.address, line.keeps.value_or(false), passesHead(line, original, 1)});
  return true;
}

}  // namespace traceback::truth
