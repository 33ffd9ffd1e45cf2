#include "instrument/analysis/unread_code.h"

#include <algorithm>
#include <cstring>

namespace traceback::instrument {

bool isRead(const Function& f) {
  using enum format::SkipReason;
  switch (f.skip) {
    case BranchIntoInstruction:
    case OverlappingFunctions:
    case PatchedWhileRunning:
    case SplitStack:
      return false;
    default:
      return f.decoded;
  }
}

void forEachGap(const Program& program, const std::function<void(VirtAddr, VirtAddr)>& visit) {
  for (const CodeRange& range : program.code) {
    VirtAddr at = range.start;
    for (const Function& f : program.functions) {
      if (!range.contains(f.start)) continue;
      if (f.start > at) visit(at, f.start);
      at = std::max(at, f.end());
    }
    if (at < range.end) visit(at, range.end);
  }
}

void forEachPossibleTransfer(std::span<const std::byte> bytes, VirtAddr start,
                             const std::function<void(VirtAddr)>& visit) {
  for (std::size_t i = 0; i + 2 <= bytes.size(); ++i) {
    const auto opcode = std::uint8_t(bytes[i]);
    if (opcode == 0xEB || (opcode & 0xF0) == 0x70 || (opcode & 0xFC) == 0xE0) {
      std::int8_t distance = 0;
      std::memcpy(&distance, bytes.data() + i + 1, sizeof distance);
      visit({start.value + i + 2 + std::uint64_t(std::int64_t{distance})});
    }
    if (i + 5 > bytes.size()) continue;
    const bool twoBytes = (opcode & 0xF0) == 0x80 && i > 0 && bytes[i - 1] == std::byte{0x0F};
    if (opcode != 0xE8 && opcode != 0xE9 && !twoBytes) continue;
    std::int32_t distance = 0;
    std::memcpy(&distance, bytes.data() + i + 1, sizeof distance);
    visit({start.value + i + 5 + std::uint64_t(std::int64_t{distance})});
  }
}

void forEachUnreadTransfer(const Program& program, const std::function<void(VirtAddr)>& visit) {
  const auto scan = [&](VirtAddr from, VirtAddr to) {
    forEachPossibleTransfer(program.codeAt(from, to.value - from.value), from, visit);
  };
  forEachGap(program, scan);
  for (const Function& f : program.functions)
    if (!isRead(f)) scan(f.start, f.end());
}

}  // namespace traceback::instrument
