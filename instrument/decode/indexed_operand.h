// The instructions by which a jump through a table gets at it: those with an operand of a base register, or
// none, and an index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace traceback::instrument {

struct IndexedOperand {
  enum class Of : std::uint8_t {
    Offset,   // movslq displacement(base, index, 4), to
    Address,  // mov displacement(base, index, 8), to
    Jump,     // jmp *displacement(base, index, 8)
  } of = Of::Offset;
  std::uint8_t base = 0;  // kNoBase: none
  std::uint8_t index = 0;
  std::uint8_t to = 0;  // not of a Jump
  std::uint8_t displacementAt = 0;  // of 32 bits, if there is no base
  std::int32_t displacement = 0;
};
inline constexpr std::uint8_t kNoBase = 0xFF;

// Of the instruction that the bytes are all of; nothing if it is none of these, or names a segment, a narrow
// address or rsp as its base.
std::optional<IndexedOperand> indexedOperand(std::span<const std::byte> instruction);

// How many values an instruction leaves possible in the register that it writes: of movzbl, and of and with a
// constant. Nothing of others.
struct Bounded {
  std::uint8_t reg = 0;
  std::uint32_t values = 0;
};
std::optional<Bounded> boundedBy(std::span<const std::byte> instruction);

// Whether it is `add from, to`, of 64 bits.
bool isAdd(std::span<const std::byte> instruction, unsigned from, unsigned to);

}  // namespace traceback::instrument
