// Appends little-endian values to bytes that are being made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace traceback::instrument {

class ByteSink {
 public:
  std::size_t size() const { return m_bytes.size(); }
  std::vector<std::byte> take() { return std::move(m_bytes); }
  std::span<const std::byte> bytes() const { return m_bytes; }

  void byte(std::uint64_t value) { m_bytes.push_back(static_cast<std::byte>(value)); }

  // The low `count` bytes of a value.
  void value(std::uint64_t value, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) byte(value >> (8 * i));
  }

  void append(std::span<const std::byte> bytes) { m_bytes.insert(m_bytes.end(), bytes.begin(), bytes.end()); }

  // Overwrites the low `count` bytes of a value at a place that exists.
  void put(std::size_t position, std::uint64_t value, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      m_bytes.at(position + i) = static_cast<std::byte>(value >> (8 * i));
  }

  void uleb(std::uint64_t value) {
    while (value >= 0x80) {
      byte((value & 0x7F) | 0x80);
      value >>= 7;
    }
    byte(value);
  }

  // With leading zeros, so that it takes `count` bytes.
  void paddedUleb(std::uint64_t value, std::size_t count) {
    for (std::size_t i = 1; i < count; ++i, value >>= 7) byte((value & 0x7F) | 0x80);
    byte(value & 0x7F);
  }

  void sleb(std::int64_t value) {
    while (value < -64 || value > 63) {
      byte((static_cast<std::uint64_t>(value) & 0x7F) | 0x80);
      value >>= 7;
    }
    byte(static_cast<std::uint64_t>(value) & 0x7F);
  }

  void align(std::size_t alignment, std::uint64_t filler = 0) {
    while (m_bytes.size() % alignment != 0) byte(filler);
  }

 private:
  std::vector<std::byte> m_bytes;
};

}  // namespace traceback::instrument
