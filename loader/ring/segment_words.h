// One segment's words, oldest first (runtime/format/ring.h), read from the ring a part at a time.
//
// Index i is the word at position first() + i: sentinels and what was never written count too, and read as
// kInvalidWord. Words that cannot be read, and a sentinel where none belongs, read as kUnreadableWord, which
// is of no kind and so counts as damage. Immutable, so usable from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loader/byte_source.h"
#include "runtime/format/record.h"
#include "runtime/format/ring.h"

namespace traceback::loader {

inline constexpr format::Word kUnreadableWord = 0x1000'0000;
static_assert(!format::isDagRecord(kUnreadableWord) && !format::isHeader(kUnreadableWord) &&
              !format::isPayload(kUnreadableWord) && kUnreadableWord != format::kInvalidWord);

class SegmentWords {
 public:
  SegmentWords() = default;
  // Of the ring whose bytes `ring` has, of this version; or why its header cannot be right.
  static std::expected<SegmentWords, std::string> of(std::shared_ptr<const ByteSource> ring,
                                                     const format::SegmentHeader& header,
                                                     std::uint32_t version);
  // Of version 1, leaves out what of the oldest sub-buffer does not precede the next for certain. It has to
  // be read for that, so this is not done by of(): who wants the newest words alone need not wait.
  void settleBeginning();

  std::uint64_t first() const { return m_first; }
  std::size_t size() const { return m_size; }
  std::uint64_t positionOf(std::size_t index) const { return m_first + index; }
  std::size_t firstAtOrAfter(std::uint64_t position) const;  // size() if all are before it
  bool wrapped() const { return m_wrapped; }  // older words were overwritten
  bool used() const { return m_size != 0; }
  // The cursor lies where it cannot: what the sub-buffer in use holds is not known, and left out.
  bool cursorIsLost() const { return m_cursorIsLost; }

  // Fills `out` with the words from `index` on; index + out.size() <= size().
  void copy(std::size_t index, std::span<format::Word> out) const;

 private:
  // Of version 1.
  std::vector<format::Word> subBuffer(std::uint64_t ordinal) const;
  // How far into the sub-buffer in use the cursor's word lies, if it lies there.
  std::optional<std::uint64_t> cursorInside(const format::SegmentHeader& header) const;
  void findEnd(const format::SegmentHeader& header);
  void findEndByZeroes(const format::SegmentHeader& header);
  std::optional<std::uint64_t> endByCursor(const format::SegmentHeader& header) const;

  std::shared_ptr<const ByteSource> m_ring;
  std::uint64_t m_fileOffset = 0;
  std::uint32_t m_subBufferWords = 1, m_subBufferCount = 1;
  std::uint64_t m_stride = 1;
  std::uint64_t m_first = 0;
  std::size_t m_size = 0;
  bool m_wrapped = false, m_mayBeginTorn = false, m_cursorIsLost = false, m_hasSentinels = false;
};

// A look at a segment's words that is cheap for who goes through them in order, either way. Not to be used
// by several threads at once; the segment must outlive it.
class WordWindow {
 public:
  explicit WordWindow(const SegmentWords& words) : m_words(&words) {}

  std::size_t size() const { return m_words->size(); }
  format::Word operator[](std::size_t index) {  // index < size()
    if (index - m_begin >= m_count) move(index);
    return m_held[index - m_begin];
  }

 private:
  static constexpr std::size_t kWords = 4096;
  void move(std::size_t index);

  const SegmentWords* m_words;
  std::size_t m_begin = 0, m_count = 0;
  std::vector<format::Word> m_held;
};

}  // namespace traceback::loader
