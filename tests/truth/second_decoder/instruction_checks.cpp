// One original instruction, and what stands for it in the copy.
#include <algorithm>
#include <cstddef>
#include <format>

#include "runtime/format/map.h"
#include "tests/truth/second_decoder/copy_checker.h"

namespace traceback::truth {

//   op take; jmp next; take: jmp target; next:
bool CopyChecker::checkShortBranch(Line& line, const Code& original, bool exactly) {
  Code op, over, jump;
  if (!take(line, op) || !take(line, over) || !take(line, jump)) return false;
  if (op.id != original.id || op.target != jump.address || over.id != X86_INS_JMP || over.target != line.pc ||
      jump.id != X86_INS_JMP || !jump.direct)
    return fail(line, op.address, "not a short branch made long: " + text(op)), false;
  if (exactly)
    m_obligations.push_back({jump.address, jump.target, original.target, true, original.address});
  else
    transfer(line, original, jump.address, jump.target, false);
  return true;
}

bool CopyChecker::checkInstruction(Line& line, const Code& original, bool exactly) {
  ++m_findings.instructions;
  if (original.direct && isShortOnly(original.id)) return checkShortBranch(line, original, exactly);
  Code copy;
  if (!take(line, copy)) return false;
  const format::FunctionEntry& entry = line.function->entry;
  if (original.direct) {
    if (!exactly && areContraries(copy, original)) return checkInverted(line, original, copy);
    if (!exactly && !copy.direct && isThroughSlot(copy, original)) {
      ++m_findings.throughSlots;
      return true;
    }
    if (copy.id != original.id || !copy.direct)
      return fail(line, copy.address, std::format("{} instead of {}", text(copy), text(original))), false;
    const bool within =
        original.target >= entry.original && original.target - entry.original < entry.originalSize;
    if (exactly && copy.target != original.target) {
      // Displaced code runs before the runtime, so it must stay with the original.
      return fail(line, copy.address, std::format("{} instead of {}", text(copy), text(original))), false;
    }
    if (!exactly) transfer(line, original, copy.address, copy.target, !within);
    return true;
  }
  if (copy.size != original.size)
    return fail(line, copy.address, std::format("{} instead of {}", text(copy), text(original))), false;
  for (unsigned i = 0; i < original.size; ++i) {
    const bool displacement =
        original.ripOffset != 0 && i >= original.ripOffset && i < original.ripOffset + 4;
    if (!displacement && copy.bytes[i] != original.bytes[i])
      return fail(line, copy.address, std::format("{} instead of {}", text(copy), text(original))), false;
  }
  if (original.ripOffset != 0 &&
      (copy.ripOffset != original.ripOffset || copy.ripTarget != original.ripTarget))
    return fail(line, copy.address, std::format("{} leads elsewhere than {}", text(copy), text(original))),
           false;
  return true;
}

}  // namespace traceback::truth
