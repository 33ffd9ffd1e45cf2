#include "instrument/decode/indexed_operand.h"

#include <cstring>

namespace traceback::instrument {
namespace {

constexpr std::uint8_t kRexW = 8, kRexR = 4, kRexX = 2, kRexB = 1;

// Prefixes, of which those of a jump may be bnd and notrack, one byte of an opcode, ModRM.
struct Parts {
  std::uint8_t rex = 0, opcode = 0, modrm = 0;
  bool jumpPrefix = false;
  std::size_t behind = 0;  // ModRM

  unsigned mod() const { return modrm >> 6; }
  unsigned reg() const { return (modrm >> 3 & 7) | ((rex & kRexR) != 0 ? 8 : 0); }
  unsigned rm() const { return (modrm & 7) | ((rex & kRexB) != 0 ? 8 : 0); }
};

std::optional<Parts> partsOf(std::span<const std::byte> code) {
  Parts out;
  std::size_t i = 0;
  const auto at = [&](std::size_t n) { return std::uint8_t(code[n]); };
  for (; i < code.size() && (at(i) == 0x3E || at(i) == 0xF2); ++i) out.jumpPrefix = true;
  if (i < code.size() && (at(i) & 0xF0) == 0x40) out.rex = at(i++);
  if (i < code.size() && at(i) == 0x0F) ++i;  // told apart by the opcodes asked for
  if (i + 2 > code.size()) return std::nullopt;
  out.opcode = at(i);
  out.modrm = at(i + 1);
  out.behind = i + 2;
  return out;
}

bool isTwoBytes(std::span<const std::byte> code, const Parts& parts) {
  return parts.behind >= 3 && code[parts.behind - 3] == std::byte{0x0F};
}

}  // namespace

std::optional<IndexedOperand> indexedOperand(std::span<const std::byte> code) {
  const auto parts = partsOf(code);
  if (!parts || isTwoBytes(code, *parts)) return std::nullopt;
  IndexedOperand out;
  unsigned scale = 3;
  const bool wide = (parts->rex & kRexW) != 0;
  if (parts->opcode == 0x63 && wide && !parts->jumpPrefix) {
    out.of = IndexedOperand::Of::Offset;
    scale = 2;
  } else if (parts->opcode == 0x8B && wide && !parts->jumpPrefix) {
    out.of = IndexedOperand::Of::Address;
  } else if (parts->opcode == 0xFF && (parts->reg() & 7) == 4) {
    out.of = IndexedOperand::Of::Jump;
  } else {
    return std::nullopt;
  }
  std::size_t at = parts->behind;
  if (parts->mod() == 3 || (parts->modrm & 7) != 4 || at >= code.size()) return std::nullopt;
  const auto sib = std::uint8_t(code[at++]);
  const unsigned index = (sib >> 3 & 7) | ((parts->rex & kRexX) != 0 ? 8 : 0);
  const unsigned base = (sib & 7) | ((parts->rex & kRexB) != 0 ? 8 : 0);
  if ((sib >> 6) != scale || index == 4 || base == 4) return std::nullopt;
  const bool baseless = parts->mod() == 0 && (sib & 7) == 5;
  const std::size_t width = baseless || parts->mod() == 2 ? 4 : parts->mod() == 1 ? 1 : 0;
  if (at + width != code.size()) return std::nullopt;
  if (width == 1) {
    const auto narrow = std::uint8_t(code[at]);
    out.displacement = narrow < 0x80 ? narrow : narrow - 0x100;
  } else if (width == 4) {
    std::memcpy(&out.displacement, &code[at], 4);
  }
  out.base = baseless ? kNoBase : std::uint8_t(base);
  out.displacementAt = baseless ? std::uint8_t(at) : std::uint8_t{0};
  out.index = std::uint8_t(index);
  out.to = std::uint8_t(parts->reg());
  return out;
}

std::optional<Bounded> boundedBy(std::span<const std::byte> code) {
  const auto parts = partsOf(code);
  if (parts && !parts->jumpPrefix && isTwoBytes(code, *parts)) {
    if (parts->opcode != 0xB6) return std::nullopt;  // movzbl
    return Bounded{std::uint8_t(parts->reg()), 0x100};
  }
  if (parts && !parts->jumpPrefix && parts->opcode == 0x83 && parts->mod() == 3 && (parts->reg() & 7) == 4 &&
      parts->behind + 1 == code.size()) {
    const auto mask = std::uint8_t(code.back());
    if (mask < 0x80) return Bounded{std::uint8_t(parts->rm()), mask + 1U};
  }
  return std::nullopt;
}

bool isAdd(std::span<const std::byte> code, unsigned from, unsigned to) {
  const auto parts = partsOf(code);
  if (!parts || parts->jumpPrefix || isTwoBytes(code, *parts) || code.size() != 3 || parts->mod() != 3 ||
      (parts->rex & kRexW) == 0)
    return false;
  if (parts->opcode == 0x01) return parts->reg() == from && parts->rm() == to;
  return parts->opcode == 0x03 && parts->reg() == to && parts->rm() == from;
}

}  // namespace traceback::instrument
