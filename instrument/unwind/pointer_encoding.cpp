#include "instrument/unwind/pointer_encoding.h"

namespace traceback::instrument {

namespace {

bool isSigned(std::uint8_t encoding) { return (encoding & 0x08U) != 0; }

// The address that a stored value is to be added to; nothing if it is not known.
std::optional<std::uint64_t> baseAddress(std::uint8_t encoding, std::uint64_t field,
                                         std::optional<std::uint64_t> dataBase) {
  switch (encoding & kPointerBaseMask) {
    case kBaseAbsolute:
      return 0;
    case kBaseHere:
      return field;
    case kBaseData:
      return dataBase;
    default:
      return {};
  }
}

}  // namespace

std::optional<std::uint8_t> pointerSize(std::uint8_t encoding) {
  if (encoding == kPointerOmitted) return {};
  switch (encoding & kPointerFormatMask) {
    case kFormatU2:
    case kFormatS2:
      return 2;
    case kFormatU4:
    case kFormatS4:
      return 4;
    case kFormatAddress:
    case kFormatU8:
    case kFormatS8:
      return 8;
    default:
      return {};
  }
}

EncodedPointer readPointer(ByteCursor& cursor, std::uint8_t encoding, std::uint64_t address,
                           std::optional<std::uint64_t> dataBase) {
  EncodedPointer pointer;
  pointer.position = cursor.position();
  const auto size = pointerSize(encoding);
  const auto base = baseAddress(encoding, address + cursor.position(), dataBase);
  if (!size || !base) {
    cursor.fail();
    return pointer;
  }
  if (*size == 2) {
    const auto stored = cursor.read<std::uint16_t>();
    pointer.raw = isSigned(encoding) ? static_cast<std::uint64_t>(static_cast<std::int16_t>(stored)) : stored;
  } else if (*size == 4) {
    const auto stored = cursor.read<std::uint32_t>();
    pointer.raw = isSigned(encoding) ? static_cast<std::uint64_t>(static_cast<std::int32_t>(stored)) : stored;
  } else {
    pointer.raw = cursor.read<std::uint64_t>();
  }
  if (pointer.raw != 0) pointer.target = pointer.raw + *base;
  return pointer;
}

std::optional<std::uint64_t> encodePointer(std::uint64_t target, std::uint8_t encoding,
                                           std::uint64_t fieldAddress,
                                           std::optional<std::uint64_t> dataBase) {
  const auto size = pointerSize(encoding);
  const auto base = baseAddress(encoding, fieldAddress, dataBase);
  if (!size || !base) return {};
  if (target == 0) return 0;
  const std::uint64_t stored = target - *base;
  if (stored == 0) return {};
  if (*size < 8) {
    const unsigned bits = *size * 8U;
    if (isSigned(encoding)) {
      const auto value = static_cast<std::int64_t>(stored);
      if (value < -(std::int64_t{1} << (bits - 1)) || value >= (std::int64_t{1} << (bits - 1))) return {};
    } else if (stored >> bits != 0) {
      return {};
    }
  }
  return stored;
}

}  // namespace traceback::instrument
