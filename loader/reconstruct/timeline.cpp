#include "loader/reconstruct/timeline.h"

#include <algorithm>
#include <csignal>
#include <format>

#include "loader/records/record_reader.h"

namespace traceback::loader {

using format::RecordType;
using format::SignalBeginField;
using format::Word;

bool isFaultOfInstruction(std::uint32_t signal, std::int32_t code) {
  return code > 0 && (signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL);
}

namespace {

// A signal: its SignalBegin and all that the thread wrote in that segment until the next one.
struct Handler {
  std::uint8_t segment = 0;      // where its records are
  std::uint8_t interrupted = 0;  // the segment that it interrupted: always a lower one
  std::size_t begin = 0, end = 0;
  std::uint64_t position = 0;
  std::uint64_t sequence = 0;
  Word record = 0;
  model::RuntimeAddr pc;
  bool faulted = false;
  bool fatal = false;
  bool resumed = false;  // it returned to where it interrupted
  bool late = false;  // its beginning is overwritten: `begin` is a later one
};

class Builder {
 public:
  Builder(const RingView& ring, std::string thread, model::LoadReport& report)
      : m_ring(ring), m_thread(std::move(thread)), m_report(report), m_bySegment(ring.segments().size()) {}

  Timeline build(const ThreadEndState& end) {
    const auto& segments = m_ring.segments();
    for (std::size_t i = 1; i < segments.size(); ++i) findHandlers(static_cast<std::uint8_t>(i));
    for (auto& handlers : m_bySegment) {
      std::ranges::sort(handlers, [](const Handler& a, const Handler& b) {
        return std::tie(a.position, a.sequence) < std::tie(b.position, b.sequence);
      });
    }
    if (!segments.empty()) {
      if (segments[0].wrapped()) m_timeline.start = Timeline::Start::Overwritten;
      emit(0, 0, segments[0].size());
      emitOrphans();
    }
    close(end);
    m_timeline.seen = findSeen(end);
    m_timeline.pid = m_ring.header().pid;
    m_timeline.atFault = end.atFault;
    return std::move(m_timeline);
  }

 private:
  void note(model::Severity severity, std::string_view text, std::uint64_t count = 1) {
    if (count != 0) m_report.add(severity, std::format("{}: {}", m_thread, text), count);
  }

  void findHandlers(std::uint8_t segment) {
    const auto& words = m_ring.segments()[segment];
    RecordReader reader(words);
    std::vector<Handler> found;
    bool orphaned = false;  // something but the time stamp that opens a sub-buffer, before the first signal
    for (auto record = reader.next(0); record; record = reader.next(record->end())) {
      if (found.empty() && (record->isDag() || (record->type() != RecordType::SignalBegin &&
                                                record->type() != RecordType::Timestamp))) {
        orphaned = true;
      }
      if (record->isDag()) continue;
      if (record->type() == RecordType::SignalEnd && !found.empty()) {
        const auto pc = record->value(1);
        found.back().resumed = pc && model::RuntimeAddr{*pc} == found.back().pc;
      }
      if (record->type() != RecordType::SignalBegin) continue;
      auto handler = readSignal(segment, *record);
      if (!handler) {
        note(model::Severity::DataLoss, "a signal's record is damaged; its handler is left out");
        continue;
      }
      if (handler->late && !found.empty() && found.back().sequence == handler->sequence) continue;
      if (!found.empty()) found.back().end = record->index;
      handler->begin = record->index;
      found.push_back(*handler);
    }
    if (!found.empty()) found.back().end = words.size();
    m_orphans.push_back(!orphaned ? 0 : found.empty() ? words.size() : found.front().begin);
    for (const auto& handler : found) m_bySegment[handler.interrupted].push_back(handler);
  }

  static std::optional<Handler> readSignal(std::uint8_t segment, const Record& record) {
    const auto value = [&](SignalBeginField field) { return record.value(static_cast<std::size_t>(field)); };
    const auto last = value(SignalBeginField::Sequence);
    if (!last) return std::nullopt;
    Handler handler;
    handler.segment = segment;
    handler.interrupted = static_cast<std::uint8_t>((record.detail() & format::kSignalSegmentMask) >>
                                                    format::kSignalSegmentShift);
    if (handler.interrupted >= segment) return std::nullopt;
    handler.position = *value(SignalBeginField::Position);
    handler.record = static_cast<Word>(*value(SignalBeginField::Record));
    handler.pc = {*value(SignalBeginField::Pc)};
    handler.sequence = *last;
    handler.fatal = (record.detail() & format::kSignalFatal) != 0;
    handler.late = (record.detail() & format::kSignalContinued) != 0;
    handler.faulted = isFaultOfInstruction(record.detail() & format::kSignalNumberMask,
                                           static_cast<std::int32_t>(*value(SignalBeginField::SenderOrCode)));
    return handler;
  }

  std::uint32_t addCut(const Handler& handler) {
    m_timeline.cuts.push_back(
        {.pc = handler.pc, .record = handler.record, .faulted = handler.faulted, .fault = handler.fatal});
    return static_cast<std::uint32_t>(m_timeline.cuts.size() - 1);
  }

  void addPiece(std::uint8_t segment, std::size_t begin, std::size_t end, std::uint32_t from,
                std::uint32_t to) {
    if (begin >= end) return;
    m_timeline.pieces.push_back({.begin = begin, .end = end, .from = from, .to = to, .segment = segment});
  }

  void emit(const Handler& handler) {
    const std::size_t first = m_timeline.pieces.size();
    emit(handler.segment, handler.begin, handler.end);
    if (first < m_timeline.pieces.size()) m_timeline.pieces[first].beginsLate = handler.late;
  }

  // Words [begin, end) of a segment, with the handlers that interrupted them in their places.
  void emit(std::uint8_t segment, std::size_t begin, std::size_t end) {
    const auto& words = m_ring.segments()[segment];
    RecordReader reader(words);
    std::uint64_t contradicted = 0;
    auto from = Piece::kNoCut;
    auto cursor = begin;
    const auto& handlers = m_bySegment[segment];
    auto next = handlers.begin();
    if (begin < words.size() && (begin != 0 || words.wrapped())) {
      next = std::ranges::lower_bound(handlers, words.positionOf(begin), {}, &Handler::position);
      if (begin == 0) {
        note(model::Severity::Info, "signals from before its recorded history are left out",
             static_cast<std::uint64_t>(next - handlers.begin()));
      }
    }
    for (; next != handlers.end(); ++next) {
      const auto& handler = *next;
      const auto at = words.firstAtOrAfter(handler.position);
      if (at > end || (at == end && end != words.size())) break;
      if (at < begin) continue;
      const auto record =
          at < words.size() && words.positionOf(at) == handler.position ? reader.around(at) : std::nullopt;
      if (handler.record == format::kInvalidWord || !record) {
        // Before the record whose word was claimed, or behind the last.
        if (at > cursor) {
          addPiece(segment, cursor, at, from, Piece::kNoCut);
          from = Piece::kNoCut;
          cursor = at;
        }
        emit(handler);
        continue;
      }
      const bool divides = record->isDag() && format::isDagRecord(handler.record) &&
                           (record->word & handler.record) == handler.record;
      if (record->isDag() && !divides) ++contradicted;
      const auto cut = divides ? addCut(handler) : Piece::kNoCut;
      addPiece(segment, cursor, record->end(), from, cut);
      emit(handler);
      // A fatal signal has an end, too, where the process outlived it for a moment: nothing ran in that.
      const bool died = handler.fatal && record->end() == words.size();
      const bool goesOn = divides && handler.resumed && !died;
      cursor = goesOn ? record->index : record->end();
      from = goesOn ? cut : Piece::kNoCut;
    }
    addPiece(segment, cursor, end, from, Piece::kNoCut);
    note(model::Severity::DataLoss, "a signal contradicts the record that it interrupted", contradicted);
  }

  // What a higher segment has before its first SignalBegin belongs to a handler whose beginning was
  // overwritten. If the thread is still in it, it belongs at the end; else its place is not known.
  void emitOrphans() {
    const auto level = m_ring.header().level;
    for (std::size_t i = 1; i < m_ring.segments().size(); ++i) {
      const auto segment = static_cast<std::uint8_t>(i);
      const auto orphans = m_orphans[i - 1];
      if (orphans == 0) continue;
      if (segment <= level && orphans == m_ring.segments()[segment].size()) {
        emit(segment, 0, orphans);
      } else {
        // That a ring wraps is no damage.
        const bool wrapped = m_ring.segments()[segment].wrapped();
        note(wrapped ? model::Severity::Info : model::Severity::DataLoss,
             "words of a signal handler whose beginning was overwritten are left out", orphans);
      }
    }
  }

  std::optional<Timeline::Seen> findSeen(const ThreadEndState& end) const {
    const auto& header = m_ring.header();
    if (header.seenTime == 0 || !end.faultTime || header.seenTime < end.faultTime->value) return std::nullopt;
    if (header.seenLevel >= m_ring.segments().size()) return std::nullopt;
    const auto& words = m_ring.segments()[header.seenLevel];
    const auto at = words.firstAtOrAfter(header.seenPosition);
    if (at >= words.size() || words.positionOf(at) != header.seenPosition) return std::nullopt;
    return Timeline::Seen{
        .segment = static_cast<std::uint8_t>(header.seenLevel), .word = at, .time = {header.seenTime}};
  }

  // Whether a handler runs at the end that a signal at that place has begun.
  bool isHandled(model::RuntimeAddr pc) const {
    return std::ranges::any_of(m_bySegment, [&](const auto& handlers) {
      return std::ranges::any_of(handlers, [&](const Handler& handler) {
        return handler.pc == pc && !handler.fatal && handler.segment <= m_ring.header().level &&
               handler.end == m_ring.segments()[handler.segment].size();
      });
    });
  }

  void close(const ThreadEndState& end) {
    if (m_timeline.pieces.empty()) return;
    auto& last = m_timeline.pieces.back();
    RecordReader reader(m_ring.segments()[last.segment]);
    const auto record = reader.previous(last.end);
    if (!record || record->index < last.begin || !record->isDag() || last.to != Piece::kNoCut) return;
    if (!end.pc || isHandled(*end.pc)) {
      m_timeline.endsOpen = true;
      return;
    }
    m_timeline.cuts.push_back(
        {.pc = *end.pc, .record = record->word, .faulted = end.faulted, .fault = end.faulted});
    last.to = static_cast<std::uint32_t>(m_timeline.cuts.size() - 1);
  }

  const RingView& m_ring;
  std::string m_thread;
  model::LoadReport& m_report;
  Timeline m_timeline;
  std::vector<std::vector<Handler>> m_bySegment;  // by the segment that they interrupted
  std::vector<std::size_t> m_orphans;  // by segment - 1: words before the first SignalBegin
};

}  // namespace

void keepNewest(Timeline& timeline, const std::vector<SegmentWords>& segments, std::uint64_t words) {
  auto piece = timeline.pieces.end();
  std::uint64_t kept = 0;
  while (piece != timeline.pieces.begin() && kept < words) {
    --piece;
    if (piece->segment == 0) kept += piece->end - piece->begin;
  }
  if (kept > words) {
    RecordReader reader(segments[piece->segment]);
    const auto wanted = piece->end - (words - (kept - (piece->end - piece->begin)));
    const auto divided = reader.around(wanted);
    const auto begin = divided && divided->index < wanted ? divided->end() : wanted;
    if (begin > piece->begin) {
      piece->begin = std::min(begin, piece->end);
      piece->from = Piece::kNoCut;
      piece->beginsLate = false;
    }
    if (piece->begin == piece->end) ++piece;
  }
  if (piece == timeline.pieces.begin() && kept <= words) return;
  timeline.pieces.erase(timeline.pieces.begin(), piece);
  timeline.start = Timeline::Start::NotRead;
}

Timeline buildTimeline(const RingView& ring, const ThreadEndState& end, const std::string& thread,
                       model::LoadReport& report) {
  return Builder(ring, thread, report).build(end);
}

}  // namespace traceback::loader
