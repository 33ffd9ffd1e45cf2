#include "instrument/analysis/entry_window.h"

#include <algorithm>
#include <expected>

namespace traceback::instrument {
namespace {

using format::SkipReason;

// Whether all bytes from `at` on, `count` of them, belong to no function and do nothing.
bool isPadding(const Program& program, VirtAddr at, std::uint64_t count) {
  const VirtAddr end{at.value + count};
  for (VirtAddr a = at; a < end; ++a.value)
    if (program.functionAt(a) != nullptr) return false;
  while (at < end) {
    const auto bytes = program.codeAt(at, 1);
    if (bytes.empty()) return false;
    if (bytes[0] == std::byte{0xCC} || bytes[0] == std::byte{0}) {
      ++at.value;
      continue;
    }
    std::optional<Instruction> insn;
    for (std::uint64_t size = 15; size > 0 && !insn; --size)
      if (const auto code = program.codeAt(at, size); !code.empty()) insn = decode(code, at);
    if (!insn || !insn->isNop) return false;
    at = insn->end();
  }
  return true;
}

std::expected<EntryWindow, SkipReason> windowOf(const Program& program, const CodeTargets& targets,
                                                const Function& f) {
  EntryWindow window;
  window.first = f.instructions.front().isEndbr64 ? 1 : 0;
  if (window.first >= f.instructions.size()) return std::unexpected(SkipReason::NoRoomForJump);
  window.start = f.instructions[window.first].address;
  window.instructions = 0;
  const VirtAddr end{window.start.value + kEntryJumpSize};
  std::size_t i = window.first;
  while (i < f.instructions.size() && f.instructions[i].address < end) {
    ++i;
    ++window.instructions;
  }
  window.reachesEnd = i == f.instructions.size();
  if (end > f.end() && !isPadding(program, f.end(), end.value - f.end().value))
    return std::unexpected(SkipReason::NoRoomForJump);
  if (targets.anyInside(window.start, end)) return std::unexpected(SkipReason::JumpTargetInWindow);
  // Its gate would then need the stack below rsp, which is only known to be free where a function begins.
  if (f.blocks.front().liveFlags != 0 && !f.entered) return std::unexpected(SkipReason::EntryFlagsLive);
  return window;
}

}  // namespace

std::optional<EntryWindow> chooseEntryWindow(const Program& program, const CodeTargets& targets,
                                             Function& f) {
  const auto window = windowOf(program, targets, f);
  if (window) return *window;
  const bool reached = f.directCalls != 0 || f.outsideJumps != 0;
  if (!reached && (f.entered || window.error() != SkipReason::EntryFlagsLive))
    f.skip = window.error();
  else if (f.entered)
    f.entryLeft = window.error();
  return std::nullopt;
}

}  // namespace traceback::instrument
