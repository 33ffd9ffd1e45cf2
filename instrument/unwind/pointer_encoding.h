// Pointers of exception handling tables (DW_EH_PE_*, Linux Standard Base, "DWARF Extensions").
//
// The low four bits say how a pointer is stored, the next three what it is relative to, the top bit that it
// points to a word which holds the pointer. A stored zero is the null pointer whatever it is relative to.
#pragma once

#include <cstdint>
#include <optional>

#include "instrument/unwind/byte_cursor.h"

namespace traceback::instrument {

inline constexpr std::uint8_t kPointerOmitted = 0xFF;
inline constexpr std::uint8_t kPointerIndirect = 0x80;

enum PointerFormat : std::uint8_t {
  kFormatAddress = 0x00,
  kFormatUleb = 0x01,
  kFormatU2 = 0x02,
  kFormatU4 = 0x03,
  kFormatU8 = 0x04,
  kFormatS2 = 0x0A,
  kFormatS4 = 0x0B,
  kFormatS8 = 0x0C,
};
inline constexpr std::uint8_t kPointerFormatMask = 0x0F;

enum PointerBase : std::uint8_t {
  kBaseAbsolute = 0x00,
  kBaseHere = 0x10,  // the address of the field itself
  kBaseData = 0x30,  // the start of .eh_frame_hdr, in that section
};
inline constexpr std::uint8_t kPointerBaseMask = 0x70;

constexpr PointerBase pointerBase(std::uint8_t encoding) {
  return static_cast<PointerBase>(encoding & kPointerBaseMask);
}

// Bytes of a pointer; nothing for formats that are not of fixed size or not known.
std::optional<std::uint8_t> pointerSize(std::uint8_t encoding);

struct EncodedPointer {
  std::uint64_t target = 0;  // link-time address it leads to, or of the word that holds that; 0: null
  std::uint64_t raw = 0;     // as stored, sign-extended
  std::size_t position = 0;  // of the field, in the cursor's bytes
};

// Reads a pointer whose field lies at `address + cursor.position()`. Fails the cursor on an encoding that is
// not known, or relative to data with no `dataBase`.
EncodedPointer readPointer(ByteCursor& cursor, std::uint8_t encoding, std::uint64_t address,
                           std::optional<std::uint64_t> dataBase = {});

// What to store for a target in a field at `fieldAddress`; nothing if it does not fit, or is not null and
// would be stored as a zero.
std::optional<std::uint64_t> encodePointer(std::uint64_t target, std::uint8_t encoding,
                                           std::uint64_t fieldAddress,
                                           std::optional<std::uint64_t> dataBase = {});

}  // namespace traceback::instrument
