// A section that is stored in blocks (runtime/format/snap.h), read a block at a time.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "loader/byte_source.h"
#include "runtime/format/snap.h"

namespace traceback::loader {

// Keeps the few blocks that were used last. A read that needs a block that is cut, has a wrong CRC or does
// not inflate to its size is false, and leaves zeros in that block's part of what was asked for.
class SectionBlocks : public ByteSource {
 public:
  // Or what is wrong with the section as a whole.
  static std::expected<std::shared_ptr<const SectionBlocks>, std::string> open(
      std::shared_ptr<const ByteSource> snap, const format::SectionEntry& section);

  std::uint64_t size() const override { return m_size; }
  bool read(std::uint64_t offset, std::span<std::byte> out) const override;
  std::uint64_t damagedParts() const override;

 private:
  static constexpr std::size_t kKept = 3;
  using Block = std::shared_ptr<const std::vector<std::byte>>;  // null: damaged
  struct Place {
    std::uint64_t offset;  // in the snap
    std::uint32_t storedSize, crc;
  };

  SectionBlocks(std::shared_ptr<const ByteSource> snap, std::uint64_t size)
      : m_snap(std::move(snap)), m_size(size) {}
  Block block(std::size_t index) const;
  Block load(std::size_t index) const;

  std::shared_ptr<const ByteSource> m_snap;
  std::uint64_t m_size;
  std::vector<Place> m_places;
  mutable std::mutex m_mutex;
  mutable std::vector<std::pair<std::size_t, Block>> m_kept;  // the one used last first
  mutable std::set<std::size_t> m_damaged;
};

}  // namespace traceback::loader
