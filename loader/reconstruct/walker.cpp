// The walk from record to record, and what those of DAGs mean for it: other records are in walker_events.cpp,
// the call structure is in walker_calls.cpp, the entries are in walker_entries.cpp.
#include "loader/reconstruct/walker.h"

#include <algorithm>
#include <optional>

namespace traceback::loader {

using format::BlockEnd;
using format::RecordType;

namespace {

bool isContinued(const Record& record) {
  return record.type() == RecordType::SignalBegin && (record.detail() & format::kSignalContinued) != 0;
}

}  // namespace

void Walker::restore(WalkState state, std::vector<Frame> stack) {
  m_state = std::move(state);
  m_stack.assign(std::move(stack));
}

std::size_t Walker::run(std::size_t records, std::vector<model::Entry>& out) {
  m_out = &out;
  const auto& timeline = m_input.timeline;
  if (!m_state.begun) {
    m_state.begun = true;
    if (timeline.start == Timeline::Start::Overwritten) gap(model::GapCause::Overwritten);
    if (timeline.start == Timeline::Start::NotRead) gap(model::GapCause::NotRead);
  }
  std::size_t done = 0;
  while (done < records && m_state.piece < timeline.pieces.size()) {
    const auto& piece = timeline.pieces[m_state.piece];
    auto& reader = m_readers[piece.segment];
    RecordDamage damage;
    const auto record = reader.next(std::max(m_state.word, piece.begin), &damage, piece.end);
    if (damage.total() != 0) {
      if (m_notes != nullptr) {
        m_notes->words.strayPayload += damage.strayPayload;
        m_notes->words.tornRecords += damage.tornRecords;
        m_notes->words.unknownWords += damage.unknownWords;
      }
      gap(model::GapCause::Damaged);
      m_state.exit = {};
    }
    if (!record) {
      ++m_state.piece;
      m_state.word = 0;
      continue;
    }
    m_state.word = record->end();
    ++done;
    const bool seen = isWhereSeen(*record, piece);
    const Shown before = seen ? Shown{.out = out.size(), .pending = m_state.pending} : Shown();
    takeRecord(*record, piece, reader);
    if (seen) noteSeen(before);
  }
  return done;
}

void Walker::takeRecord(const Record& record, const Piece& piece, RecordReader& reader) {
  if (!record.isDag()) {
    const bool isOnceMore = isContinued(record);
    const bool isLate = isOnceMore && piece.beginsLate && record.index == piece.begin;
    if (!isOnceMore || isLate) takeEvent(record, piece.segment);
    if (isLate) {
      gap(model::GapCause::Overwritten);
      m_state.exit = {};
    }
    return;
  }
  const bool lastPiece = m_state.piece + 1 == m_input.timeline.pieces.size();
  const bool mayBeDivided = piece.to != Piece::kNoCut || (lastPiece && m_input.timeline.endsOpen);
  const bool last = mayBeDivided && !reader.next(record.end(), nullptr, piece.end);
  takeDag(record, record.index == piece.begin ? piece.from : Piece::kNoCut, last ? piece.to : Piece::kNoCut,
          last && piece.to == Piece::kNoCut, last && lastPiece);
}

// Not where a signal divides that record: in which part of it, and on which side of the handler, is not
// known.
bool Walker::isWhereSeen(const Record& record, const Piece& piece) const {
  const auto& seen = m_input.timeline.seen;
  if (!seen || seen->segment != piece.segment || seen->word < record.index || seen->word >= record.end())
    return false;
  const bool lastPiece = m_state.piece + 1 == m_input.timeline.pieces.size();
  const bool divided = (piece.from != Piece::kNoCut && record.index == piece.begin) ||
                       (piece.to != Piece::kNoCut && record.end() >= piece.end && !lastPiece);
  return !divided;
}

void Walker::finish(std::vector<model::Entry>& out) {
  m_out = &out;
  flush();
}

std::optional<ResolvedDag> Walker::resolve(format::Word word) {
  auto& notes = m_notes != nullptr ? *m_notes : m_unusedNotes;
  if (format::codeOf(word) < format::kFirstCode) {
    ++notes.untraceableModules;
    gap(model::GapCause::MissingMap);
    return std::nullopt;
  }
  auto dag = m_input.modules->resolve(word);
  if (!dag) {
    ++notes.unknownCodes;
    gap(model::GapCause::Damaged);
    m_state.exit = {};
    return std::nullopt;
  }
  if (dag->map == nullptr) {
    if (notes.withoutMap.size() <= dag->module) notes.withoutMap.resize(dag->module + std::size_t{1});
    ++notes.withoutMap[dag->module];
    gap(model::GapCause::MissingMap);
    return std::nullopt;
  }
  decodePath(*dag->map, dag->dag, dag->path, m_path);
  if (!m_path.explained) {
    ++notes.unexplainedPaths;
    gap(model::GapCause::Damaged);
    m_state.exit = {};
    return std::nullopt;
  }
  if (m_fill != nullptr) {
    auto function = dag->dag.function;
    m_fill->needFunction(dag->module, function);
    for (const auto& block : m_path.blocks) {
      if (block.function != function) m_fill->needFunction(dag->module, function = block.function);
      m_fill->needBlock(dag->module, function, block.block);
    }
  }
  return dag;
}

void Walker::takeDag(const Record& record, std::uint32_t from, std::uint32_t to, bool open, bool atEnd) {
  const auto dag = resolve(record.word);
  if (!dag) return;
  m_nextLineFlags = 0;
  CutPoint begin, end;
  end.block = m_path.blocks.size();
  if (from == Piece::kNoCut) {
    enterHead(*dag);
  } else {
    begin = locate(*dag, m_input.timeline.cuts[from]);
    if (begin.block >= m_path.blocks.size()) return;  // all of it ran before the interruption
    const auto ran = begin.inside ? begin.block : std::max<std::size_t>(begin.block, 1) - 1;
    const auto interrupted = dag->in(m_path.blocks[ran].function);
    if (m_stack.empty() || !samePart(interrupted, m_stack.top())) enterMiddle(interrupted, {}, false);
  }
  if (open) {
    showOpen(*dag, begin);
    return;
  }
  const Cut* cut = to == Piece::kNoCut ? nullptr : &m_input.timeline.cuts[to];
  if (cut != nullptr) end = locate(*dag, *cut);
  showBlocks(*dag, begin, end, cut != nullptr && cut->faulted);
  if (end.inside) {
    m_state.exit = {.kind = Exit::Kind::Cut};
  } else if (end.block > begin.block && end.block > 0) {
    const auto& last = m_path.blocks[end.block - 1];
    if (canLeave(*dag->map, dag->dag, last)) {
      leaveDag(*dag, last);
    } else if (cut != nullptr) {
      m_state.exit = {.kind = Exit::Kind::Cut};
    } else {
      // The path stops where the DAG cannot be left, and nothing says why.
      if (m_notes != nullptr) ++m_notes->brokenFlow;
      markPending(model::kEntryPartial);
      gap(model::GapCause::Damaged);
      m_state.exit = {};
    }
  }
  if (cut == nullptr || !(cut->fault || atEnd)) return;
  if (end.inCallee && m_state.exit.kind == Exit::Kind::Call) markUntracedCall(m_state.exit);
  if (cut->fault && atEnd) {
    m_state.died = true;
    markPending(model::kEntryFault);
  }
}

namespace {

bool isHead(const MapView& map, MapFunction function, model::VirtAddr start) {
  for (std::uint32_t i = 0; i < map.function(function).blockCount; ++i) {
    const auto& block = map.block(function, i);
    if (block.start == start.value && (block.flags & format::kBlockHead) != 0) return true;
  }
  return false;
}

}  // namespace

// Where in m_path an interruption divides the record.
Walker::CutPoint Walker::locate(const ResolvedDag& dag, const Cut& cut) {
  CutPoint point;
  const auto& entry = dag.dag.entry;
  const auto base = (*m_input.modules)[dag.module].codeBase + entry.code;
  const auto path = format::codeOf(cut.record) - base;
  if (format::codeOf(cut.record) < base || path >= (format::Word{1} << entry.bits)) {
    point.block = m_path.blocks.size();
    return point;
  }
  const auto place = m_input.modules->original(cut.pc);
  const bool here = place && place->inCopy && place->module == dag.module &&
                    std::ranges::contains(m_path.blocks, place->function, &PathBlock::function);
  if (here) {
    // In a head's probe before the record was claimed, the last record is that of the DAG before, and is done
    // if no bit was added to it afterwards. It may have been there already, where it passed that probe.
    const bool beforeNext =
        !cut.faulted && place->first && path == dag.path && isHead(*dag.map, place->function, place->address);
    for (std::size_t i = 0; i < m_path.blocks.size() && !beforeNext; ++i) {
      if (m_path.blocks[i].function != place->function) continue;
      const auto& block = dag.map->block(place->function, m_path.blocks[i].block);
      if (place->address.value < block.start || place->address.value - block.start >= block.size) continue;
      point.block = i;
      point.address = static_cast<std::uint32_t>(place->address.value);
      point.inside = true;
      return point;
    }
  }
  decodePath(*dag.map, dag.dag, path, m_prefix);
  point.block = std::min(m_prefix.blocks.size(), m_path.blocks.size());
  point.inCallee = !here;
  return point;
}

void Walker::showBlocks(const ResolvedDag& dag, const CutPoint& begin, const CutPoint& end, bool faulted) {
  for (auto i = begin.block; i < m_path.blocks.size() && (i < end.block || (i == end.block && end.inside));
       ++i) {
    enterPassed(dag, begin, i);
    const auto& [function, index] = m_path.blocks[i];
    const auto& block = dag.map->block(function, index);
    const bool cutHere = end.inside && i == end.block;
    const auto start = begin.inside && i == begin.block ? begin.address : block.start;
    const auto stop = cutHere ? end.address : block.start + block.size;
    const bool faultHere = cutHere && faulted;
    if (stop < start || (stop == start && !faultHere)) continue;
    if (m_steps != nullptr) {
      m_steps->push_back({.module = {dag.module},
                          .start = {start},
                          .size = stop - start,
                          .faulted = faultHere,
                          .open = false,
                          .afterGap = m_afterGap});
    }
    m_afterGap = false;
    const auto shown =
        faultHere ? std::uint64_t{stop} + 1 : std::uint64_t{stop};  // one past the last byte shown
    for (const auto& line : m_names.linesOf(dag.module, function, index)) {
      const auto from = std::max(line.start, start);
      const auto to = std::min<std::uint64_t>(line.end, shown);
      if (from >= to) continue;
      std::uint16_t flags = 0;
      if (cutHere && to == shown && to < line.end) flags |= model::kEntryPartial;
      showLine(line, from, static_cast<std::uint32_t>(to - 1), flags);
    }
  }
}

// The last record of a thread that was killed: what its bits prove. Of the last block no more than that it
// was begun.
void Walker::showOpen(const ResolvedDag& dag, const CutPoint& begin) {
  const auto last = std::min(m_path.proven, m_path.blocks.size()) - 1;
  CutPoint end;
  end.block = last;
  showBlocks(dag, begin, end, false);
  if (begin.block <= last) {
    enterPassed(dag, begin, last);
    const auto& [function, index] = m_path.blocks[last];
    const auto& block = dag.map->block(function, index);
    const auto start = begin.inside && begin.block == last ? begin.address : block.start;
    if (m_steps != nullptr) {
      m_steps->push_back({.module = {dag.module},
                          .start = {start},
                          .size = block.start + block.size - start,
                          .faulted = false,
                          .open = true,
                          .afterGap = m_afterGap});
    }
    m_afterGap = false;
    for (const auto& line : m_names.linesOf(dag.module, function, index)) {
      if (line.end <= start) continue;
      showLine(line, std::max(line.start, start), line.end - 1, model::kEntryPartial);
      break;
    }
  }
  gap(model::GapCause::PathUnknown);
  m_state.exit = {};
}

void Walker::leaveDag(const ResolvedDag& dag, const PathBlock& last) {
  const auto& block = dag.map->block(last.function, last.block);
  // A table may lead to a part that was moved away, and a jump through a pointer anywhere.
  const bool mayLeave = (block.flags & format::kBlockTailBranch) != 0 || block.end == BlockEnd::Multiway;
  Exit exit{.kind = Exit::Kind::Inside, .mayLeave = mayLeave, .block = last.block};
  switch (block.end) {
    case BlockEnd::Call:
    case BlockEnd::IndirectCall:
      exit.kind = Exit::Kind::Call;
      m_stack.changeTop().returnBlock = block.successor[0];
      break;
    case BlockEnd::Return:
      exit.kind = Exit::Kind::Return;
      leave(0);
      break;
    case BlockEnd::TailJump:
      exit.kind = Exit::Kind::TailJump;
      break;
    case BlockEnd::UnknownJump:
      exit.kind = Exit::Kind::Away;
      break;
    case BlockEnd::Trap:
      exit.kind = Exit::Kind::Stopped;
      break;
    default:
      break;
  }
  m_state.exit = exit;
}

}  // namespace traceback::loader
