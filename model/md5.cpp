#include "model/md5.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace traceback::model {

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t kBlock = 64;

// floor(2^32 * |sin(i + 1)|), as in the RFC's section 3.4.
constexpr std::array<std::uint32_t, 64> kSines = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

// By round, then by step modulo four.
constexpr int kRotations[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

using State = std::array<std::uint32_t, 4>;

void takeBlock(State& state, const std::byte* block) {
  std::array<std::uint32_t, 16> words;
  std::memcpy(words.data(), block, kBlock);
  auto [a, b, c, d] = state;
  for (std::uint32_t i = 0; i < 64; ++i) {
    std::uint32_t mixed = 0, word = 0;
    switch (i / 16) {
      case 0:
        mixed = (b & c) | (~b & d);
        word = i;
        break;
      case 1:
        mixed = (b & d) | (c & ~d);
        word = 5 * i + 1;
        break;
      case 2:
        mixed = b ^ c ^ d;
        word = 3 * i + 5;
        break;
      default:
        mixed = c ^ (b | ~d);
        word = 7 * i;
        break;
    }
    const std::uint32_t sum = a + mixed + kSines[i] + words[word % 16];
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, kRotations[i / 16][i % 4]);
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
}

}  // namespace

Md5 md5(std::span<const std::byte> bytes) {
  State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  const std::size_t whole = bytes.size() / kBlock;
  for (std::size_t i = 0; i < whole; ++i) takeBlock(state, bytes.data() + i * kBlock);
  // The rest, a bit that is set, zeros, and the length in bits: one block or two.
  std::array<std::byte, 2 * kBlock> end{};
  const auto rest = bytes.subspan(whole * kBlock);
  std::ranges::copy(rest, end.begin());
  end[rest.size()] = std::byte{0x80};
  const std::size_t blocks = rest.size() + 1 + sizeof(std::uint64_t) <= kBlock ? 1 : 2;
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  std::memcpy(end.data() + blocks * kBlock - sizeof bits, &bits, sizeof bits);
  for (std::size_t i = 0; i < blocks; ++i) takeBlock(state, end.data() + i * kBlock);
  Md5 sum;
  std::memcpy(sum.data(), state.data(), sum.size());
  return sum;
}

std::string text(const Md5& sum) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string result;
  for (const std::uint8_t byte : sum) {
    result += kDigits[byte >> 4];
    result += kDigits[byte & 15];
  }
  return result;
}

}  // namespace traceback::model
