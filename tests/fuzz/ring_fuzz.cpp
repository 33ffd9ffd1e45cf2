// A ring file: its words, its records either way, its timeline.
#include "loader/reconstruct/timeline.h"
#include "loader/records/record_reader.h"
#include "loader/ring/ring_view.h"
#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace traceback;
  const auto bytes = std::make_shared<const loader::MemoryBytes>(tests::bytesOf(data, size));
  const auto ring = loader::RingView::parse(bytes, "fuzz");
  if (!ring) return 0;
  for (const auto& segment : ring->segments()) {
    loader::RecordReader reader(segment);
    std::size_t forward = 0, backward = 0;
    for (auto record = reader.next(0); record; record = reader.next(record->end())) ++forward;
    for (auto record = reader.previous(segment.size()); record; record = reader.previous(record->index))
      ++backward;
    if (forward != backward) __builtin_trap();
    for (std::size_t i = 0; i < segment.size(); ++i) {
      if (segment.firstAtOrAfter(segment.positionOf(i)) != i) __builtin_trap();
    }
  }
  const auto history = ring->history();
  for (std::size_t i = 1; i < history.entries.size(); ++i) {
    if (history.entries[i].firstOrdinal <= history.entries[i - 1].lastOrdinal) __builtin_trap();
  }
  for (const auto& count : history.counts) {
    if (!format::isDagRecord(count.record)) __builtin_trap();
  }
  model::LoadReport report;
  auto timeline = loader::buildTimeline(*ring, {}, "thread", report);
  if (size % 2 == 1) loader::keepNewest(timeline, ring->segments(), size / 16);
  for (const auto& piece : timeline.pieces) {
    if (piece.begin >= piece.end || piece.end > ring->segments()[piece.segment].size()) __builtin_trap();
  }
  return 0;
}
