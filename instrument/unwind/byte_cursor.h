// A checked little-endian reader. A read past the end gives zero and marks the cursor as failed, for good;
// so a parser reads a run of fields and asks once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

namespace traceback::instrument {

class ByteCursor {
 public:
  explicit ByteCursor(std::span<const std::byte> bytes, std::size_t position = 0)
      : m_bytes(bytes), m_position(position), m_failed(position > bytes.size()) {}

  bool failed() const { return m_failed; }
  std::size_t position() const { return m_position; }
  std::size_t left() const { return m_failed ? 0 : m_bytes.size() - m_position; }
  void fail() { m_failed = true; }

  template <typename T>
    requires std::is_integral_v<T>
  T read() {
    T value = 0;
    if (left() < sizeof(T)) {
      m_failed = true;
      return value;
    }
    std::memcpy(&value, m_bytes.data() + m_position, sizeof(T));
    m_position += sizeof(T);
    return value;
  }

  std::span<const std::byte> take(std::uint64_t count) {
    if (left() < count) {
      m_failed = true;
      return {};
    }
    const auto part = m_bytes.subspan(m_position, count);
    m_position += count;
    return part;
  }

  // Fails on values that need more than 64 bits; padded encodings are fine.
  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = read<std::uint8_t>();
      const std::uint64_t part = byte & 0x7FU;
      if (part != 0 && (shift > 63 || (shift == 63 && part > 1))) m_failed = true;
      if (m_failed) return 0;
      if (shift < 64) value |= part << shift;
      if ((byte & 0x80U) == 0) return value;
    }
  }

  std::int64_t sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = read<std::uint8_t>();
      if (shift > 63) m_failed = true;
      if (m_failed) return 0;
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if ((byte & 0x80U) != 0) continue;
      if (shift + 7 < 64 && (byte & 0x40U) != 0) value |= ~std::uint64_t{0} << (shift + 7);
      return static_cast<std::int64_t>(value);
    }
  }

  std::string string() {
    std::string text;
    while (const auto c = read<char>()) text.push_back(c);
    return text;
  }

 private:
  std::span<const std::byte> m_bytes;
  std::size_t m_position;
  bool m_failed;
};

}  // namespace traceback::instrument
