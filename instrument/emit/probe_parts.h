// What head probes and light probes are put together from.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include "instrument/emit/code_builder.h"
#include "instrument/emit/probes.h"
#include "runtime/format/record.h"

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

// What may serve as scratch, the cheapest to encode first. rsp and the ones whose encoding as a base needs a
// further byte (rbp, r12, r13) are left out.
inline constexpr std::array<unsigned, 12> kScratchRegisters = {0, 2, 1, 6, 7, 8, 9, 10, 11, 3, 14, 15};

inline constexpr std::uint8_t kCarry = 2, kEqual = 4, kNotEqual = 5;  // condition codes

// To and from a spill slot. No flags.
void loadThreadWord(CodeBuilder& code, unsigned reg, std::int32_t offset);
void storeThreadWord(CodeBuilder& code, unsigned reg, std::int32_t offset);
void loadSegment(CodeBuilder& code, unsigned reg);
std::int32_t placeOfSpill(const CodeBuilder& code, unsigned slot);  // from the thread pointer

void load64(CodeBuilder& code, unsigned base, unsigned to);  // mov (base), to

// The word behind the cursor, from its front.
inline constexpr std::uint8_t kNextWord = sizeof(format::Word);

// Brings the cursor into r: from xmm15, or from memory by the segment's header, and into xmm15 too if it is
// to be loaded there. No flags.
void takeCursor(CodeBuilder& code, unsigned r, Cursor cursor);

// With the segment's header in r, or the cursor.
void loadKept(CodeBuilder& code, unsigned r);  // from the header into xmm15
void copyKept(CodeBuilder& code, unsigned to);  // movq %xmm15, to

// Steps the cursor in r; to `wrap` if that is another window's then (ring.h), with the step to be done again.
void stepInWindow(CodeBuilder& code, unsigned r, Label wrap);

// Steps the cursor in xmm15, and stores it by way of r. No flags.
void stepAndStoreKept(CodeBuilder& code, unsigned r);

// Stores the cursor in r, which is stepped, by the header's address in a register; in xmm15, too, if it is
// kept. No flags.
void storeStepped(CodeBuilder& code, unsigned r, unsigned header, bool kept);

// Through the runtime, which finds a cursor with a word to write behind it, to `resume`, with that in r.
void emitWrapAt(CodeBuilder& code, Label resume, unsigned r, bool kept, VirtAddr moduleSlots);

}  // namespace traceback::instrument
