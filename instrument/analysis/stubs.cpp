#include "instrument/analysis/stubs.h"

#include <cstddef>

namespace traceback::instrument {
namespace {

constexpr std::uint64_t kEndbr64Size = 4;
constexpr std::byte kBnd{0xF2};  // of bounds registers, which are gone
constexpr std::byte kIndirect{0xFF}, kJumpRip{0x25};

std::optional<Instruction> decodeAt(const Program& program, VirtAddr at, std::uint64_t size) {
  const auto code = program.codeAt(at, size);
  return code.empty() ? std::nullopt : decode(code, at);
}

}  // namespace

std::optional<VirtAddr> slotOfStub(const Program& program, VirtAddr at) {
  if (const Function* f = program.functionAt(at); f != nullptr && f->skip != format::SkipReason::StartupCode)
    return std::nullopt;
  if (const auto first = decodeAt(program, at, kEndbr64Size); first && first->isEndbr64) at = first->end();
  for (const std::uint64_t size : {6, 7}) {
    const auto jump = decodeAt(program, at, size);
    if (!jump || jump->length != size) continue;
    // Any other prefix means something.
    const auto raw = program.codeAt(at, size);
    if (size == 7 && raw[0] != kBnd) return std::nullopt;
    if (raw[size - 6] == kIndirect && raw[size - 5] == kJumpRip) return jump->ripTarget;
  }
  return std::nullopt;
}

}  // namespace traceback::instrument
