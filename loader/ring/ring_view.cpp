#include "loader/ring/ring_view.h"

#include <algorithm>
#include <format>

namespace traceback::loader {

using format::kInvalidWord;
using format::kSentinelWord;
using format::Word;

std::uint64_t SegmentWords::positionOf(std::size_t index) const {
  const auto run = std::prev(std::ranges::upper_bound(m_runs, index, {}, &Run::index));
  return run->position + (index - run->index);
}

std::optional<std::size_t> SegmentWords::indexOf(std::uint64_t position) const {
  const auto index = firstAtOrAfter(position);
  if (index == m_words.size() || positionOf(index) != position) return std::nullopt;
  return index;
}

std::size_t SegmentWords::firstAtOrAfter(std::uint64_t position) const {
  const auto after = std::ranges::upper_bound(m_runs, position, {}, &Run::position);
  if (after == m_runs.begin()) return 0;
  const auto& run = *std::prev(after);
  const auto end = after == m_runs.end() ? m_words.size() : after->index;
  return position - run.position >= end - run.index
             ? end
             : run.index + static_cast<std::size_t>(position - run.position);
}

namespace {

// The words of a sub-buffer up to its sentinel, its unwritten tail cut off.
std::vector<Word> subBuffer(Bytes words, std::uint64_t index, std::uint32_t size) {
  const PackedArray<Word> all(
      words.subspan(static_cast<std::size_t>(index * size * sizeof(Word)), size * sizeof(Word)));
  std::vector<Word> result;
  result.reserve(size);
  for (std::uint32_t i = 0; i + 1 < size && all[i] != kSentinelWord; ++i) result.push_back(all[i]);
  while (!result.empty() && result.back() == kInvalidWord) result.pop_back();
  return result;
}

// Of the sub-buffer in use the last record may have been in the writing when the process died: no damage.
void dropUnfinished(std::vector<Word>& words) {
  std::size_t payload = words.size();
  while (payload > 0 && format::isPayload(words[payload - 1])) --payload;
  if (payload == 0 || !format::isHeader(words[payload - 1])) return;
  if (words.size() - payload < format::payloadWordsOf(words[payload - 1])) words.resize(payload - 1);
}

}  // namespace

std::optional<std::string> RingView::readSegment(Bytes bytes, const format::SegmentHeader& header,
                                                 SegmentWords& out) {
  const std::uint64_t size = header.subBufferWords;
  const std::uint64_t count = header.subBufferCount;
  if (size == 0 && count == 0 && header.fileOffset == 0) return std::nullopt;  // never set up
  if (size < 2 || count < 2) return "its header says that it has no room";
  const auto words =
      sliceOf(bytes, header.fileOffset, size * count, sizeof(Word));  // 32 bits times 32 bits fit
  if (!words) return "lies outside the file";
  if (header.fileOffset < sizeof(format::RingHeader)) return "overlaps the header";
  if (header.ordinal > UINT64_MAX / size - 1) return "its ordinal is impossible";

  const std::uint64_t newest = header.ordinal;
  const std::uint64_t oldest = newest >= count - 1 ? newest - (count - 1) : 0;
  out.m_wrapped = oldest > 0;
  for (std::uint64_t ordinal = oldest; ordinal <= newest; ++ordinal) {
    auto part = subBuffer(*words, ordinal % count, header.subBufferWords);
    if (ordinal == newest) dropUnfinished(part);
    std::uint64_t position = ordinal * size;
    if (ordinal == oldest && oldest != newest && out.m_wrapped) {
      // It may be just being zeroed for reuse: only what reaches its end without a hole precedes the next.
      const bool full = part.size() + 1 == size;
      const auto hole = std::ranges::find(part.rbegin(), part.rend(), kInvalidWord);
      const auto keep = full ? static_cast<std::size_t>(hole - part.rbegin()) : 0;
      if (!full && std::ranges::find(part, kInvalidWord) == part.end()) {
        // No hole before the tail: the runtime ended it early, or zeroing has not begun.
      } else {
        position += part.size() - keep;
        part.erase(part.begin(), part.end() - static_cast<std::ptrdiff_t>(keep));
      }
    }
    if (part.empty()) continue;
    out.m_runs.push_back({.position = position, .index = out.m_words.size()});
    out.m_words.insert(out.m_words.end(), part.begin(), part.end());
  }
  return std::nullopt;
}

model::Result<RingView> RingView::parse(Bytes bytes, std::string origin) {
  RingView ring;
  const auto magic = readAt<std::uint64_t>(bytes, 0);
  if (!magic || *magic != format::kRingMagic)
    return model::fail("not a TraceBack ring", std::move(origin), 0);
  const auto header = readAt<format::RingHeader>(bytes, 0);
  if (!header) return model::fail("truncated ring header", std::move(origin), bytes.size());
  if (header->version != format::kRingVersion) {
    return model::fail(std::format("ring version {} is not known to this reader ({})", header->version,
                                   format::kRingVersion),
                       std::move(origin), offsetof(format::RingHeader, version));
  }
  ring.m_header = *header;
  if (header->segmentCount > format::kMaxSegments) {
    ring.m_damage.push_back(std::format("its header counts {} segments", header->segmentCount));
  }
  const auto count = std::min<std::uint32_t>(header->segmentCount, format::kMaxSegments);
  ring.m_segments.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    SegmentWords segment;
    if (const auto problem = readSegment(bytes, header->segments[i], segment)) {
      ring.m_damage.push_back(std::format("segment {}: {}", i, *problem));
    } else {
      ring.m_segments[i] = std::move(segment);
    }
  }
  return ring;
}

}  // namespace traceback::loader
