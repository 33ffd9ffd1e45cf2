// A cursor over bytes that never reads past them, whatever the lengths and offsets in them say.
//
// Every read checks first and copies by memcpy, so alignment never matters. A read that does not fit
// leaves the cursor where it is and answers nothing; offset() then says where, for the error message.
// Little-endian, as all our formats and all files that we read are.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace traceback::loader {

using Bytes = std::span<const std::byte>;

static_assert(std::endian::native == std::endian::little);

// The bytes [offset, offset + size), or nothing if they are not all there.
constexpr std::optional<Bytes> slice(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
  if (size > bytes.size() || offset > bytes.size() - size) return std::nullopt;
  return bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
}

// `count` structures of `size` bytes from `offset` on, or nothing; also when count * size overflows.
constexpr std::optional<Bytes> sliceOf(Bytes bytes, std::uint64_t offset, std::uint64_t count,
                                       std::uint64_t size) {
  std::uint64_t total = 0;
  if (__builtin_mul_overflow(count, size, &total)) return std::nullopt;
  return slice(bytes, offset, total);
}

// The structure at `offset`, copied out, or nothing if it is not all there.
template <typename T>
std::optional<T> readAt(Bytes bytes, std::uint64_t offset) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto part = slice(bytes, offset, sizeof(T));
  if (!part) return std::nullopt;
  T value;
  std::memcpy(&value, part->data(), sizeof(T));
  return value;
}

// The zero-terminated string at `offset`; nothing if it starts outside or does not end.
inline std::optional<std::string_view> stringAt(Bytes bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return std::nullopt;
  const auto rest = bytes.subspan(static_cast<std::size_t>(offset));
  const void* end = std::memchr(rest.data(), 0, rest.size());
  if (end == nullptr) return std::nullopt;
  const auto length = static_cast<const std::byte*>(end) - rest.data();
  return std::string_view(reinterpret_cast<const char*>(rest.data()), static_cast<std::size_t>(length));
}

// The text in a zero-padded field of fixed size, whether or not a zero ends it.
template <typename T, std::size_t N>
std::string_view paddedString(const T (&field)[N]) {
  static_assert(sizeof(T) == 1);
  const void* end = std::memchr(field, 0, N);
  const auto length = end == nullptr ? N : static_cast<std::size_t>(static_cast<const T*>(end) - field);
  return {reinterpret_cast<const char*>(field), length};
}

// An array of T that lies at any alignment within bytes: elements are copied out one by one.
template <typename T>
class PackedArray {
 public:
  static_assert(std::is_trivially_copyable_v<T>);
  PackedArray() = default;
  explicit PackedArray(Bytes bytes) : m_bytes(bytes) {}

  std::size_t size() const { return m_bytes.size() / sizeof(T); }
  bool empty() const { return size() == 0; }
  T operator[](std::size_t index) const {  // index < size()
    T value;
    std::memcpy(&value, m_bytes.data() + index * sizeof(T), sizeof(T));
    return value;
  }
  Bytes bytes() const { return m_bytes; }

  class Iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    Iterator(const PackedArray* array, std::size_t index) : m_array(array), m_index(index) {}
    T operator*() const { return (*m_array)[m_index]; }
    Iterator& operator++() {
      ++m_index;
      return *this;
    }
    Iterator operator++(int) {
      auto old = *this;
      ++m_index;
      return old;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.m_index == b.m_index; }

   private:
    const PackedArray* m_array = nullptr;
    std::size_t m_index = 0;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }

 private:
  Bytes m_bytes;
};

class ByteReader {
 public:
  explicit ByteReader(Bytes bytes, std::uint64_t offset = 0) : m_bytes(bytes), m_offset(offset) {}

  std::uint64_t offset() const { return m_offset; }
  std::uint64_t remaining() const { return m_offset > m_bytes.size() ? 0 : m_bytes.size() - m_offset; }
  bool atEnd() const { return remaining() == 0; }
  void seek(std::uint64_t offset) { m_offset = offset; }

  template <typename T>
  std::optional<T> read() {
    auto value = readAt<T>(m_bytes, m_offset);
    if (value) m_offset += sizeof(T);
    return value;
  }
  std::optional<Bytes> read(std::uint64_t size) {
    auto part = slice(m_bytes, m_offset, size);
    if (part) m_offset += size;
    return part;
  }
  std::optional<std::string_view> readString() {
    auto text = stringAt(m_bytes, m_offset);
    if (text) m_offset += text->size() + 1;
    return text;
  }

 private:
  Bytes m_bytes;
  std::uint64_t m_offset;
};

}  // namespace traceback::loader
