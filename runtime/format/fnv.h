// FNV-1a, 64 bits: for names and texts of a few words.
#pragma once

#include <cstdint>

namespace traceback::format {

inline constexpr std::uint64_t kFnvStart = 0xCBF2'9CE4'8422'2325;

constexpr std::uint64_t fnvBehind(std::uint64_t hash, std::uint8_t byte) {
  return (hash ^ byte) * 0x0000'0100'0000'01B3;
}

// Goes on with the hash of what is in front of the text.
constexpr std::uint64_t fnvOf(const char* text, std::uint64_t hash = kFnvStart) {
  for (; *text != 0; ++text) hash = fnvBehind(hash, static_cast<std::uint8_t>(*text));
  return hash;
}

}  // namespace traceback::format
