#include "instrument/emit/bit_routines.h"

#include "instrument/emit/probe_parts.h"

namespace traceback::instrument {
namespace {

constexpr std::int8_t kRaxKept = -8, kRcxKept = -16;  // from the routine's stack pointer

unsigned numberOf(unsigned bit, bool kept) { return 2 * bit + (kept ? 1 : 0); }

}  // namespace

void emitSharedBit(CodeBuilder& code, unsigned bit, bool kept, RoutineSet& used) {
  const unsigned number = kFirstBitRoutine + numberOf(bit, kept);
  used.set(number);
  code.callRoutine(number);
}

std::uint32_t emitBitRoutine(unsigned number, Routines& out) {
  const unsigned bit = number / 2;
  const bool kept = number % 2 != 0;
  CodeBuilder code(out.threadSlot);
  code.setOrigin({});
  storeBelow(code, kRax, kRaxKept);
  storeBelow(code, kRcx, kRcxKept);
  takeCursor(code, kRax, kept ? Cursor::Kept : Cursor::InMemory);
  const auto byte = std::uint8_t(bit / 8), mask = std::uint8_t(1U << bit % 8);
  code.bytes({0x0F, 0xB6, modrm(1, kRcx, kRax), byte});
  code.bytes({0x8D, modrm(1, kRcx, kRcx), mask});
  code.bytes({0x88, modrm(1, kRcx, kRax), byte});
  loadBelow(code, kRcx, kRcxKept);
  loadBelow(code, kRax, kRaxKept);
  code.bytes({0xC3});
  const std::uint32_t start = out.append(code, 1);
  out.bits.push_back({start, std::uint8_t(bit), std::uint8_t(code.size()),
                      kept ? std::uint8_t{format::kBitRoutineFindsCursor} : std::uint8_t{0}, 0});
  return start;
}

}  // namespace traceback::instrument
