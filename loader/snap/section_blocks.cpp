#include "loader/snap/section_blocks.h"

#include <algorithm>

#include "loader/snap/inflate.h"

namespace traceback::loader {

using format::kSnapBlockSize;
using format::SnapBlock;

std::expected<std::shared_ptr<const SectionBlocks>, std::string> SectionBlocks::open(
    std::shared_ptr<const ByteSource> snap, const format::SectionEntry& section) {
  const std::uint64_t count = (section.size + kSnapBlockSize - 1) / kSnapBlockSize;
  const std::uint64_t tableSize = count * sizeof(SnapBlock);
  if (tableSize > section.storedSize) return std::unexpected("contradicts itself about its size");
  const auto table = partOf(*snap, section.offset, tableSize);
  if (!table) return std::unexpected("lies beyond the end of the file");
  if (crcOf(*table) != section.crc) return std::unexpected("its checksum is wrong");
  const std::shared_ptr<SectionBlocks> blocks(new SectionBlocks(std::move(snap), section.size));
  std::uint64_t at = tableSize;
  for (const auto& block : PackedArray<SnapBlock>(*table)) {
    if (block.storedSize > section.storedSize - at)
      return std::unexpected("contradicts itself about its size");
    blocks->m_places.push_back(
        {.offset = section.offset + at, .storedSize = block.storedSize, .crc = block.crc});
    at += block.storedSize;
  }
  return blocks;
}

SectionBlocks::Block SectionBlocks::load(std::size_t index) const {
  const auto& place = m_places[index];
  const auto size = std::min(kSnapBlockSize, m_size - index * kSnapBlockSize);
  auto stored = partOf(*m_snap, place.offset, place.storedSize);
  if (!stored || crcOf(*stored) != place.crc) return nullptr;
  if (place.storedSize == size) return std::make_shared<const std::vector<std::byte>>(std::move(*stored));
  auto inflated = inflateTo(*stored, size);
  return inflated ? std::make_shared<const std::vector<std::byte>>(std::move(*inflated)) : nullptr;
}

SectionBlocks::Block SectionBlocks::block(std::size_t index) const {
  {
    const std::lock_guard lock(m_mutex);
    const auto hit = std::ranges::find(m_kept, index, &std::pair<std::size_t, Block>::first);
    if (hit != m_kept.end()) {
      std::rotate(m_kept.begin(), hit, hit + 1);
      return m_kept.front().second;
    }
  }
  auto made = load(index);  // without the lock: who needs another block need not wait
  const std::lock_guard lock(m_mutex);
  if (!made) m_damaged.insert(index);
  if (m_kept.size() >= kKept) m_kept.pop_back();
  m_kept.emplace(m_kept.begin(), index, made);
  return made;
}

std::uint64_t SectionBlocks::damagedParts() const {
  const std::lock_guard lock(m_mutex);
  return m_damaged.size();
}

bool SectionBlocks::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (out.size() > m_size || offset > m_size - out.size()) return false;
  bool all = true;
  while (!out.empty()) {
    const auto index = static_cast<std::size_t>(offset / kSnapBlockSize);
    const auto within = static_cast<std::size_t>(offset % kSnapBlockSize);
    const auto size = std::min<std::size_t>(out.size(), kSnapBlockSize - within);
    if (const auto bytes = block(index)) {
      std::memcpy(out.data(), bytes->data() + within, size);
    } else {
      std::ranges::fill(out.first(size), std::byte{0});
      all = false;
    }
    out = out.subspan(size);
    offset += size;
  }
  return all;
}

}  // namespace traceback::loader
