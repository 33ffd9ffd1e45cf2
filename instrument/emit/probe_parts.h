// What head probes and light probes are put together from.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include "instrument/emit/code_builder.h"
#include "instrument/emit/probes.h"

namespace traceback::instrument {

std::uint8_t modrm(unsigned mod, unsigned reg, unsigned rm);
std::uint8_t rex(bool wide, unsigned reg, unsigned rm);

class Sequence {
 public:
  template <typename... Bytes>
  Sequence& add(Bytes... values) {
    ((m_bytes[m_size++] = std::uint8_t(values)), ...);
    return *this;
  }
  Sequence& add32(std::uint32_t value) {
    std::memcpy(m_bytes.data() + m_size, &value, sizeof value);
    m_size += sizeof value;
    return *this;
  }
  // The prefix of an instruction of 32 bits, if its registers need one.
  Sequence& optionalRex(unsigned reg, unsigned rm);
  std::span<const std::uint8_t> bytes() const { return {m_bytes.data(), m_size}; }

 private:
  std::array<std::uint8_t, 16> m_bytes{};
  std::size_t m_size = 0;
};

inline constexpr std::uint8_t kEqual = 4;  // condition code of je

// To and from a spill slot. No flags.
void loadThreadWord(CodeBuilder& code, unsigned reg, std::int32_t offset);
void storeThreadWord(CodeBuilder& code, unsigned reg, std::int32_t offset);
void loadSegment(CodeBuilder& code, unsigned reg);

void load64(CodeBuilder& code, unsigned base, unsigned to);  // mov (base), to
void load32(CodeBuilder& code, unsigned base, unsigned to);

// With the segment's header in r. claimWord() changes the flags if the cursor is in memory alone.
void loadKept(CodeBuilder& code, unsigned r);  // into xmm15
void claimWord(CodeBuilder& code, unsigned r, Cursor cursor);
void loadCursor(CodeBuilder& code, unsigned r, Cursor cursor);  // behind that, into r

void copyKept(CodeBuilder& code, unsigned to);  // movq %xmm15, to
void compareWithSentinel(CodeBuilder& code, unsigned r);
// Through the runtime, which finds a word to write, to `resume`, with its address in r.
void emitWrapAt(CodeBuilder& code, Label resume, unsigned r, bool kept, VirtAddr moduleSlots);

}  // namespace traceback::instrument
