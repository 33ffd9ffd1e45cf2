// What an instrumented file was made from, how, and how to get it back: the section `.traceback.origin`,
// which is not loaded.
//
//   OriginHeader | OriginStretch[stretchCount] | strings (UTF-8, each zero-terminated; offset 0 is "") |
//   the original's bytes in each stretch, one behind the other
//
// An instrumented file begins with the original, changed in a few places: the stretches. So the original is
// the file's first `originalSize` bytes with the stretches put back. It is only that if its hash is right:
// other tools (strip, patchelf) move what follows.
#pragma once

#include <cstdint>

namespace traceback::format {

inline constexpr std::uint64_t kOriginMagic = 0x0A0D'4749'524F'4254;  // "TBORIG\r\n"
inline constexpr std::uint32_t kOriginVersion = 1;
inline constexpr char kOriginSection[] = ".traceback.origin";

struct OriginHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t headerSize;
  std::uint8_t hash[16];         // XXH3, 128 bits, canonical form, of the original
  std::uint64_t originalSize;
  std::uint32_t instrumentor;    // version of what the instrumentor makes of the same input
  std::uint32_t stretchCount;
  std::uint32_t stringBytes;
  std::uint32_t product;         // string: version of the program that wrote it
  std::uint32_t options;         // string: the options, as on the command line
  std::uint32_t reserved[5];
};
static_assert(sizeof(OriginHeader) == 80);

// By rising offset, not overlapping.
struct OriginStretch {
  std::uint64_t offset;
  std::uint64_t size;
};
static_assert(sizeof(OriginStretch) == 16);

}  // namespace traceback::format
