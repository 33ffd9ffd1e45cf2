#include "ring_dump.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "runtime/inject/rings/ring_memory.h"

namespace traceback::testing {

namespace {

using namespace format;

// Words of a segment with their positions; sub-buffers begin behind zeroes, if there are any, and end at the
// next, the one in use behind the cursor's word.
std::vector<std::pair<std::uint64_t, Word>> wordsOf(const SegmentHeader& segment,
                                                    const std::vector<std::uint8_t>& bytes) {
  std::vector<std::pair<std::uint64_t, Word>> words;
  const std::uint64_t kept = std::min<std::uint64_t>(segment.ordinal + 1, segment.subBufferCount);
  for (std::uint64_t ordinal = segment.ordinal + 1 - kept; ordinal <= segment.ordinal; ++ordinal) {
    const std::uint64_t front = ordinal % segment.subBufferCount * segment.subBufferStride;
    const std::uint64_t start = segment.fileOffset + front * sizeof(Word);
    std::uint64_t end = segment.subBufferWords;
    if (ordinal == segment.ordinal) {
      const std::uint64_t cursor = (segment.cursor - segment.base) / sizeof(Word);
      end = cursor >= front && cursor - front < end ? cursor - front + 1 : 0;
    }
    bool hasBegun = false;
    for (std::uint64_t i = 0; i < end; ++i) {
      Word word = 0;
      std::memcpy(&word, bytes.data() + start + i * sizeof word, sizeof word);
      if (word == kInvalidWord && hasBegun) break;
      if (word == kInvalidWord) continue;
      hasBegun = true;
      words.emplace_back(ordinal * segment.subBufferWords + i, word);
    }
  }
  return words;
}

Segment dumpSegment(const SegmentHeader& header, const std::vector<std::uint8_t>& bytes) {
  Segment segment;
  segment.ordinal = header.ordinal;
  segment.subBufferWords = header.subBufferWords;
  const auto words = wordsOf(header, bytes);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto [position, word] = words[i];
    Record record;
    record.position = position;
    if (isDagRecord(word)) {
      record.isDag = true;
      record.code = codeOf(word);
    } else if (isHeader(word) && words.size() - i > payloadWordsOf(word)) {
      record.type = typeOf(word);
      record.detail = detailOf(word);
      for (unsigned value = 0; value + 3 <= payloadWordsOf(word); value += 3)
        record.values.push_back(
            valueOf(words[i + 1 + value].second, words[i + 2 + value].second, words[i + 3 + value].second));
      for (unsigned k = 1; k <= payloadWordsOf(word); ++k) segment.damaged += !isPayload(words[i + k].second);
      i += payloadWordsOf(word);
    } else {
      ++segment.damaged;
      continue;
    }
    segment.records.push_back(std::move(record));
  }
  // A full sub-buffer holds its words but for a timestamp; the first also a ThreadStart. What those of a new
  // file leave out is not there.
  std::uint64_t current = 0;
  for (const auto& [position, word] : words) current += position / header.subBufferWords == header.ordinal;
  segment.dagRecordsEver = header.ordinal * (header.subBufferWords - 4) + (current < 4 ? 0 : current - 4) - 7;
  if (header.subBufferWords > inject::kFirstWords)
    segment.dagRecordsEver -= std::min<std::uint64_t>(header.ordinal, inject::kFirstSubBuffers) *
                              (header.subBufferWords - inject::kFirstWords);
  return segment;
}

}  // namespace

std::vector<std::uint32_t> Segment::dagCodes() const {
  std::vector<std::uint32_t> codes;
  for (const Record& record : records)
    if (record.isDag) codes.push_back(record.code);
  return codes;
}

std::optional<RingDump> dumpRing(const std::vector<std::uint8_t>& bytes) {
  RingDump dump;
  if (bytes.size() < kRingHeaderSize) return {};
  std::memcpy(&dump.header, bytes.data(), sizeof dump.header);
  if (dump.header.magic != kRingMagic || dump.header.version != kRingVersion ||
      dump.header.segmentCount > kMaxSegments)
    return {};
  for (unsigned i = 0; i < dump.header.segmentCount; ++i) {
    const SegmentHeader& segment = dump.header.segments[i];
    if (segment.subBufferCount == 0 || segment.subBufferStride < segment.subBufferWords) return {};
    const std::uint64_t size = extentOf(segment) * sizeof(Word);
    if (size == 0 || size > bytes.size() || segment.fileOffset > bytes.size() - size) return {};
    dump.segments[i] = dumpSegment(segment, bytes);
  }
  return dump;
}

std::vector<std::uint8_t> readBytes(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::optional<RingDump> dumpRing(const std::filesystem::path& file) { return dumpRing(readBytes(file)); }

}  // namespace traceback::testing
