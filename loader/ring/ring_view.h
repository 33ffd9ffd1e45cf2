// A ring file's words, oldest first (runtime/format/ring.h), whatever state the process left it in.
//
// Only what cannot be a ring file at all is an error. A segment whose header contradicts itself or the
// file is left out and named; words that are not certain to follow each other are not joined.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loader/byte_reader.h"
#include "model/error.h"
#include "runtime/format/record.h"
#include "runtime/format/ring.h"

namespace traceback::loader {

// One segment's words, without sentinels and without the unwritten tails of sub-buffers. A word that was
// claimed but never written, because a handler left it by longjmp, stays as kInvalidWord.
class SegmentWords {
 public:
  std::span<const format::Word> words() const { return m_words; }
  std::size_t size() const { return m_words.size(); }
  std::uint64_t positionOf(std::size_t index) const;                      // index < size()
  std::optional<std::size_t> indexOf(std::uint64_t position) const;       // nothing if it is not here
  std::size_t firstAtOrAfter(std::uint64_t position) const;               // size() if all are before it
  bool wrapped() const { return m_wrapped; }                              // older words were overwritten
  bool used() const { return !m_words.empty(); }

 private:
  friend class RingView;
  struct Run {
    std::uint64_t position;
    std::size_t index;
  };
  std::vector<format::Word> m_words;
  std::vector<Run> m_runs;  // one a sub-buffer
  bool m_wrapped = false;
};

class RingView {
 public:
  static model::Result<RingView> parse(Bytes bytes, std::string origin);

  const format::RingHeader& header() const { return m_header; }
  const std::vector<SegmentWords>& segments() const { return m_segments; }  // at most kMaxSegments
  // What was wrong, for the load report: "segment 2: lies outside the file".
  const std::vector<std::string>& damage() const { return m_damage; }

 private:
  static std::optional<std::string> readSegment(Bytes bytes, const format::SegmentHeader& header,
                                                SegmentWords& out);

  format::RingHeader m_header{};
  std::vector<SegmentWords> m_segments;
  std::vector<std::string> m_damage;
};

}  // namespace traceback::loader
