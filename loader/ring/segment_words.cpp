#include "loader/ring/segment_words.h"

#include <algorithm>

namespace traceback::loader {

using format::kInvalidWord;
using format::kSentinelWord;
using format::Word;

std::expected<SegmentWords, std::string> SegmentWords::of(std::shared_ptr<const ByteSource> ring,
                                                          const format::SegmentHeader& header,
                                                          std::uint32_t version) {
  SegmentWords segment;
  const std::uint64_t size = header.subBufferWords;
  const std::uint64_t count = header.subBufferCount;
  const std::uint64_t stride = format::strideOf(header);
  if (size == 0 && count == 0 && header.fileOffset == 0) return segment;  // never set up
  if (size < 2 || count < 2) return std::unexpected("its header says that it has no room");
  if (stride < size) return std::unexpected("its header says that its parts overlap");
  const auto words = format::extentOf(header);  // 32 bits times 32 bits fit
  if (words > ring->size() / sizeof(Word) || header.fileOffset > ring->size() - words * sizeof(Word))
    return std::unexpected("lies outside the file");
  if (header.fileOffset < sizeof(format::RingHeader)) return std::unexpected("overlaps the header");
  if (header.ordinal > UINT64_MAX / size - 1) return std::unexpected("its ordinal is impossible");

  segment.m_ring = std::move(ring);
  segment.m_fileOffset = header.fileOffset;
  segment.m_subBufferWords = header.subBufferWords;
  segment.m_subBufferCount = header.subBufferCount;
  segment.m_stride = stride;
  segment.m_hasSentinels = version < format::kFirstVersionWithWindows;
  const std::uint64_t oldest = header.ordinal >= count - 1 ? header.ordinal - (count - 1) : 0;
  segment.m_wrapped = oldest > 0;
  segment.m_first = oldest * size;
  if (version == 1) {
    segment.m_mayBeginTorn = true;
    segment.findEndByZeroes(header);
  } else {
    segment.findEnd(header);
  }
  return segment;
}

std::size_t SegmentWords::firstAtOrAfter(std::uint64_t position) const {
  if (position <= m_first) return 0;
  return static_cast<std::size_t>(std::min<std::uint64_t>(position - m_first, m_size));
}

void SegmentWords::copy(std::size_t index, std::span<Word> out) const {
  const std::uint64_t size = m_subBufferWords;
  while (!out.empty()) {
    const auto position = positionOf(index);
    const auto within = position % size;
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), size - within));
    const auto part = out.first(count);
    const auto offset =
        m_fileOffset + ((position / size) % m_subBufferCount * m_stride + within) * sizeof(Word);
    if (m_ring->read(offset, std::as_writable_bytes(part))) {
      std::ranges::replace(part, kSentinelWord, kUnreadableWord);
    } else {
      std::ranges::fill(part, kUnreadableWord);
    }
    if (m_hasSentinels && within + count == size) part.back() = kInvalidWord;
    out = out.subspan(count);
    index += count;
  }
}

// All words of a sub-buffer but the sentinel.
std::vector<Word> SegmentWords::subBuffer(std::uint64_t ordinal) const {
  std::vector<Word> words(m_subBufferWords - 1);
  SegmentWords whole = *this;
  whole.m_first = ordinal * m_subBufferWords;
  whole.m_size = words.size();
  whole.copy(0, words);
  return words;
}

std::optional<std::uint64_t> SegmentWords::cursorInside(const format::SegmentHeader& header) const {
  const auto at = format::cursorIndex(header);
  const auto begin = format::frontIndex(header, header.ordinal);
  const std::uint64_t words = m_subBufferWords - (m_hasSentinels ? 1 : 0);
  if (header.cursor < header.base || at < begin || at - begin >= words) return std::nullopt;
  return at - begin;
}

// The words of the sub-buffer in use end with the cursor's, if it has come there already.
void SegmentWords::findEnd(const format::SegmentHeader& header) {
  const auto begin = header.ordinal * m_subBufferWords - m_first;
  const auto cursor = cursorInside(header);
  m_size = static_cast<std::size_t>(begin + (cursor ? *cursor + 1 : 0));
  if (cursor) return;
  // In the one before, until it is put into the new one's front.
  auto before = header;
  before.ordinal = header.ordinal - 1;
  m_cursorIsLost = header.ordinal == 0 || !cursorInside(before);
}

// Where the words of the sub-buffer in use end, by the cursor, which points at the last of them, if what lies
// behind it agrees.
std::optional<std::uint64_t> SegmentWords::endByCursor(const format::SegmentHeader& header) const {
  const auto cursor = cursorInside(header);
  if (!cursor) return std::nullopt;
  const auto offset = m_fileOffset + format::cursorIndex(header) * sizeof(Word);
  const auto last = m_ring->readAt<Word>(offset);
  const auto behind = m_ring->readAt<Word>(offset + sizeof(Word));
  const bool agrees = last && behind && *last != kInvalidWord && *last != kSentinelWord &&
                      (*behind == kInvalidWord || *behind == kSentinelWord);
  return agrees ? std::optional(*cursor + 1) : std::nullopt;
}

void SegmentWords::findEndByZeroes(const format::SegmentHeader& header) {
  const auto begin = header.ordinal * m_subBufferWords;
  std::uint64_t written = 0;
  if (const auto end = endByCursor(header)) {
    written = *end;
  } else {
    const auto words = subBuffer(header.ordinal);
    const auto last =
        std::ranges::find_if(words.rbegin(), words.rend(), [](Word word) { return word != kInvalidWord; });
    written = static_cast<std::uint64_t>(words.rend() - last);
  }
  m_size = static_cast<std::size_t>(begin + written - m_first);
  // The last record may have been in the writing when the process died: no damage. Older runtimes did not
  // write all of its words in their order, so there may be holes in it.
  WordWindow words(*this);
  std::size_t payload = m_size;
  bool hasHoles = false;
  while (payload > 0 && (format::isPayload(words[payload - 1]) || words[payload - 1] == kInvalidWord))
    hasHoles |= words[--payload] == kInvalidWord;
  if (payload == 0 || !format::isHeader(words[payload - 1])) return;
  const std::size_t wanted = format::payloadWordsOf(words[payload - 1]);
  if (m_size - payload < wanted || (hasHoles && m_size - payload == wanted)) m_size = payload - 1;
}

// The oldest sub-buffer may be just being zeroed for reuse: then only what reaches its end without a hole
// precedes the next. Without a hole before its tail the runtime ended it early, or zeroing has not begun.
void SegmentWords::settleBeginning() {
  if (!m_mayBeginTorn || !m_wrapped || m_first % m_subBufferWords != 0 || m_size <= m_subBufferWords) return;
  const auto words = subBuffer(m_first / m_subBufferWords);
  const auto tail =
      std::ranges::find_if(words.rbegin(), words.rend(), [](Word word) { return word != kInvalidWord; });
  const auto hole = std::find(tail, words.rend(), kInvalidWord);
  if (hole == words.rend()) return;
  const bool full = tail == words.rbegin();
  const auto skipped = full ? static_cast<std::uint64_t>(words.rend() - hole) : m_subBufferWords;
  m_first += skipped;
  m_size -= std::min<std::size_t>(m_size, skipped);
}

void WordWindow::move(std::size_t index) {
  m_begin = index - index % kWords;
  m_count = std::min(kWords, m_words->size() - m_begin);
  m_held.resize(kWords);
  m_words->copy(m_begin, std::span(m_held).first(m_count));
}

}  // namespace traceback::loader
