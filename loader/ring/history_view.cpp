#include "loader/ring/history_view.h"

#include <algorithm>
#include <format>
#include <iterator>
#include <span>

namespace traceback::loader {

namespace {

using format::HistoryEntry;
using format::HistoryHeader;

// What the runtime accepts is far below.
constexpr std::uint64_t kMostLevels = std::size(HistoryHeader{}.written);
constexpr std::uint64_t kMostMerged = 64;

bool addsUp(const HistoryEntry& entry) {
  std::uint64_t named = 0;
  for (const auto& count : entry.counts) {
    if (count.record == 0) break;
    if (!format::isDagRecord(count.record)) return false;
    named += count.times;
  }
  return entry.others <= entry.sampled && named == entry.sampled - entry.others;
}

// Of a segment whose oldest sub-buffer now is `oldest`.
bool isSound(const HistoryEntry& entry, std::uint64_t oldest, std::uint32_t subBufferWords) {
  const std::uint64_t parts = entry.lastOrdinal - entry.firstOrdinal + 1;
  return entry.firstOrdinal <= entry.lastOrdinal && entry.lastOrdinal <= oldest && entry.looked != 0 &&
         entry.looked <= parts && entry.sampled <= std::uint64_t{entry.looked} * subBufferWords &&
         entry.firstTime <= entry.lastTime && addsUp(entry);
}

class Reader {
 public:
  Reader(const ByteSource& ring, const format::RingHeader& header) : m_ring(ring), m_ringHeader(header) {}

  HistoryView read() {
    const auto header = m_ring.readAt<HistoryHeader>(m_ringHeader.historyOffset);
    if (!header) return damaged("it lies outside the ring");
    if (header->version != format::kHistoryVersion)
      return damaged(std::format("version {} is not known to this reader ({})", header->version,
                                 format::kHistoryVersion));
    if (!fits(*header)) return damaged("its header contradicts itself");
    if (header->countSlots != 0 && !readCounts(*header)) return damaged("a part of it cannot be read");
    for (std::uint32_t level = 0; level < header->levels; ++level) {
      auto entries = readLevel(*header, level);
      if (!entries) return damaged("a part of it cannot be read");
      putBefore(std::move(*entries));
    }
    if (m_bad != 0) m_view.damage = std::format("{} of its entries are damaged", m_bad);
    if (m_badCounts != 0) m_view.damage = std::format("{} of its counts are damaged", m_badCounts);
    return std::move(m_view);
  }

 private:
  HistoryView damaged(std::string why) {
    m_view = {};
    m_view.damage = std::move(why);
    return std::move(m_view);
  }

  // From the front of the history to the end of its levels, if they are as they should be.
  static std::uint64_t endOfLevels(const HistoryHeader& header) {
    return header.headerSize + std::uint64_t{header.levels} * header.entriesEach * sizeof(HistoryEntry);
  }
  bool fits(const HistoryHeader& header) const {
    const std::uint64_t size = m_ringHeader.historySize;
    if (header.headerSize < sizeof header || header.headerSize > size) return false;
    const bool levelsFit =
        header.levels == 0
            ? header.countSlots != 0
            : header.entrySize == sizeof(HistoryEntry) && header.levels <= kMostLevels &&
                  header.merged >= 2 && header.merged <= kMostMerged && header.entriesEach != 0 &&
                  header.entriesEach <= (size - header.headerSize) / sizeof(HistoryEntry) / header.levels;
    return levelsFit && header.countSlots <= (size - endOfLevels(header)) / sizeof(format::HistoryCount);
  }

  // False if the bytes cannot be had.
  bool readCounts(const HistoryHeader& header) {
    std::vector<format::HistoryCount> counts(static_cast<std::size_t>(header.countSlots));
    if (!m_ring.read(m_ringHeader.historyOffset + endOfLevels(header),
                     std::as_writable_bytes(std::span(counts))))
      return false;
    std::erase_if(counts, [](const auto& count) { return count.record == 0; });
    m_badCounts = std::erase_if(counts, [](const auto& count) { return !format::isDagRecord(count.record); });
    m_view.counts = std::move(counts);
    m_view.uncounted = header.countOthers;
    return true;
  }

  // Those that are whole, oldest first; nothing if the bytes cannot be had.
  std::optional<std::vector<HistoryEntry>> readLevel(const HistoryHeader& header, std::uint32_t level) {
    const auto& main = m_ringHeader.segments[0];
    const std::uint64_t each = header.entriesEach, written = header.written[level];
    std::vector<HistoryEntry> slots(static_cast<std::size_t>(std::min(each, written)));
    const std::uint64_t start =
        m_ringHeader.historyOffset + header.headerSize + level * each * sizeof(HistoryEntry);
    if (!m_ring.read(start, std::as_writable_bytes(std::span(slots)))) return std::nullopt;
    const std::uint64_t oldest =
        main.ordinal + 1 < main.subBufferCount ? 0 : main.ordinal + 1 - main.subBufferCount;
    std::vector<HistoryEntry> entries;
    const std::uint64_t first = written < each ? 1 : written - each + 1;
    for (std::uint64_t number = first; number <= written && number != 0; ++number) {
      const HistoryEntry& entry = slots[static_cast<std::size_t>((number - 1) % each)];
      // The oldest one may be about to become the next.
      if (entry.number == 0 && number == first) continue;
      if (entry.number != number || !isSound(entry, oldest, main.subBufferWords) ||
          (!entries.empty() &&
           (entry.firstOrdinal <= entries.back().lastOrdinal || entry.firstTime < entries.back().lastTime))) {
        ++m_bad;
        continue;
      }
      // Summed up, but not overwritten any more.
      if (entry.lastOrdinal < oldest) entries.push_back(entry);
    }
    return entries;
  }

  // What is older than all that there is, from a coarser level. Where an entry reaches into the finer ones,
  // it takes their place.
  void putBefore(std::vector<HistoryEntry> coarse) {
    auto& fine = m_view.entries;
    if (!fine.empty())
      std::erase_if(
          coarse, [&](const HistoryEntry& entry) { return entry.firstOrdinal >= fine.front().firstOrdinal; });
    if (coarse.empty()) return;
    const auto last = coarse.back().lastOrdinal;
    const auto rest =
        std::ranges::find_if(fine, [&](const HistoryEntry& entry) { return entry.firstOrdinal > last; });
    std::ranges::copy(rest, fine.end(), std::back_inserter(coarse));
    fine = std::move(coarse);
  }

  const ByteSource& m_ring;
  const format::RingHeader& m_ringHeader;
  HistoryView m_view;
  std::uint64_t m_bad = 0, m_badCounts = 0;
};

}  // namespace

HistoryView readHistory(const ByteSource& ring, const format::RingHeader& header) {
  if (header.historyOffset == 0 || header.historySize == 0 || header.segmentCount == 0) return {};
  return Reader(ring, header).read();
}

}  // namespace traceback::loader
