// Bytes that are read a part at a time: of a file too large to be held, of a section that is packed.
//
// Immutable, and usable from any thread at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "loader/byte_reader.h"
#include "loader/regular_file.h"

namespace traceback::loader {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual std::uint64_t size() const = 0;
  // Fills `out` from `offset` on. False if not all of it is there or can be read; then `out` holds anything.
  virtual bool read(std::uint64_t offset, std::span<std::byte> out) const = 0;
  // How many parts of it, of those that were asked for by now, are damaged.
  virtual std::uint64_t damagedParts() const { return 0; }

  // The structure at `offset`, or nothing.
  template <typename T>
  std::optional<T> readAt(std::uint64_t offset) const {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    if (!read(offset, std::as_writable_bytes(std::span(&value, 1)))) return std::nullopt;
    return value;
  }
};

// The bytes [offset, offset + size), or nothing if they are not all there or cannot be read.
inline std::optional<std::vector<std::byte>> partOf(const ByteSource& source, std::uint64_t offset,
                                                    std::uint64_t size) {
  if (size > source.size() || offset > source.size() - size)
    return std::nullopt;  // before memory is asked for
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  if (!source.read(offset, bytes)) return std::nullopt;
  return bytes;
}

// Bytes in memory: the caller's, who keeps them as long as the source is in use, or its own.
class MemoryBytes : public ByteSource {
 public:
  explicit MemoryBytes(Bytes bytes) : m_bytes(bytes) {}
  explicit MemoryBytes(std::vector<std::byte> owned) : m_owned(std::move(owned)), m_bytes(m_owned) {}
  MemoryBytes(const MemoryBytes&) = delete;
  MemoryBytes& operator=(const MemoryBytes&) = delete;

  std::uint64_t size() const override { return m_bytes.size(); }
  bool read(std::uint64_t offset, std::span<std::byte> out) const override {
    const auto part = slice(m_bytes, offset, out.size());
    if (part && !out.empty()) std::memcpy(out.data(), part->data(), out.size());
    return part.has_value();
  }

 private:
  std::vector<std::byte> m_owned;
  Bytes m_bytes;
};

// A regular file. It is read, not mapped: who truncates it meanwhile makes a read fail, and no more.
class FileBytes : public ByteSource {
 public:
  explicit FileBytes(RegularFile file) : m_file(std::move(file)) {}
  std::uint64_t size() const override { return m_file.size(); }
  bool read(std::uint64_t offset, std::span<std::byte> out) const override {
    return m_file.read(offset, out) == static_cast<std::ptrdiff_t>(out.size());
  }

 private:
  RegularFile m_file;
};

}  // namespace traceback::loader
