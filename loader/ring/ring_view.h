// A ring file's words, oldest first (runtime/format/ring.h), whatever state the process left it in.
//
// Only what cannot be a ring file at all is an error. A segment whose header contradicts itself or the
// file is left out and named; words that are not certain to follow each other are not joined.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "loader/byte_source.h"
#include "loader/ring/history_view.h"
#include "loader/ring/segment_words.h"
#include "model/error.h"
#include "runtime/format/ring.h"

namespace traceback::loader {

class RingView {
 public:
  // Unsettled: until settleBeginnings() is called the oldest sub-buffers may hold what was being overwritten.
  enum class Beginnings { Settled, Unsettled };
  static model::Result<RingView> parse(std::shared_ptr<const ByteSource> bytes, std::string origin,
                                       Beginnings beginnings = Beginnings::Settled);
  void settleBeginnings();

  const format::RingHeader& header() const { return m_header; }
  const std::vector<SegmentWords>& segments() const { return m_segments; }  // at most kMaxSegments
  // What is known of the time before. Read each time.
  HistoryView history() const { return readHistory(*m_bytes, m_header); }
  // What was wrong, for the load report: "segment 2: lies outside the file".
  const std::vector<std::string>& damage() const { return m_damage; }
  // Parts of its bytes that turned out to be damaged by now.
  std::uint64_t damagedParts() const { return m_bytes->damagedParts(); }

 private:
  std::shared_ptr<const ByteSource> m_bytes;
  format::RingHeader m_header{};
  std::vector<SegmentWords> m_segments;
  std::vector<std::string> m_damage;
};

}  // namespace traceback::loader
