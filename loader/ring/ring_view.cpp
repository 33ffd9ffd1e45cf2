#include "loader/ring/ring_view.h"

#include <algorithm>
#include <format>

namespace traceback::loader {

model::Result<RingView> RingView::parse(std::shared_ptr<const ByteSource> bytes, std::string origin,
                                        Beginnings beginnings) {
  RingView ring;
  const auto magic = bytes->readAt<std::uint64_t>(0);
  if (!magic || *magic != format::kRingMagic)
    return model::fail("not a TraceBack ring", std::move(origin), 0);
  const auto header = bytes->readAt<format::RingHeader>(0);
  if (!header) return model::fail("truncated ring header", std::move(origin), bytes->size());
  if (header->version < format::kOldestRingVersion || header->version > format::kRingVersion) {
    return model::fail(std::format("ring version {} is not known to this reader ({})", header->version,
                                   format::kRingVersion),
                       std::move(origin), offsetof(format::RingHeader, version));
  }
  ring.m_bytes = std::move(bytes);
  ring.m_header = *header;
  if (header->segmentCount > format::kMaxSegments) {
    ring.m_damage.push_back(std::format("its header counts {} segments", header->segmentCount));
  }
  const auto count = std::min<std::uint32_t>(header->segmentCount, format::kMaxSegments);
  for (std::uint32_t i = 0; i < count; ++i) {
    auto segment = SegmentWords::of(ring.m_bytes, header->segments[i], header->version);
    if (!segment) ring.m_damage.push_back(std::format("segment {}: {}", i, segment.error()));
    if (segment && segment->cursorIsLost())
      ring.m_damage.push_back(
          std::format("segment {}: its cursor lies outside of the part in use, which is left out", i));
    ring.m_segments.push_back(segment ? std::move(*segment) : SegmentWords{});
  }
  if (beginnings == Beginnings::Settled) ring.settleBeginnings();
  return ring;
}

void RingView::settleBeginnings() {
  for (auto& segment : m_segments) segment.settleBeginning();
}

}  // namespace traceback::loader
