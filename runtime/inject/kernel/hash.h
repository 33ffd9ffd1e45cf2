// FNV-1a, of texts of a few words.
#pragma once

#include <cstdint>

namespace traceback::inject {

inline constexpr std::uint64_t kHashStart = 0xCBF2'9CE4'8422'2325;

// Goes on with the hash of what is in front of the text.
inline std::uint64_t hashOf(const char* text, std::uint64_t hash = kHashStart) {
  constexpr std::uint64_t kPrime = 0x0000'0100'0000'01B3;
  for (; *text != 0; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * kPrime;
  return hash;
}

}  // namespace traceback::inject
