// The call structure: whose activation a DAG record belongs to.
#include <algorithm>
#include <array>

#include "loader/reconstruct/walker.h"
#include "model/demangle.h"

namespace traceback::loader {

using format::BlockEnd;

namespace {

const format::BlockEntry& headOf(const ResolvedDag& dag) {
  return dag.map->block(dag.dag.function, dag.dag.entry.firstBlock);
}

// What throws exceptions, or takes them to where they are caught, and catches none itself.
bool isUnwinders(std::string_view name) {
  constexpr std::array<std::string_view, 6> kNames = {kThrower,
                                                      "__cxa_rethrow",
                                                      "_Unwind_RaiseException",
                                                      "_Unwind_Resume",
                                                      "_Unwind_Resume_or_Rethrow",
                                                      "_Unwind_ForcedUnwind"};
  return std::ranges::contains(kNames, name) || isRethrower(name);
}

}  // namespace

// Whether the frame and the DAG are of one function, a part of which may have been moved away (f.cold).
bool Walker::samePart(const ResolvedDag& dag, const Frame& frame) const {
  return frame.module == dag.module &&
         (frame.current == dag.dag.function ||
          m_names.wholeOf(dag.module, frame.current) == m_names.wholeOf(dag.module, dag.dag.function));
}

void Walker::enterHead(const ResolvedDag& dag) {
  const auto exit = m_state.exit;
  m_state.exit = {};
  const auto& head = headOf(dag);
  const bool isEntry = (head.flags & format::kBlockEntry) != 0;
  const bool isReturnPoint = (head.flags & format::kBlockReturnPoint) != 0;
  const bool isLandingPad = (head.flags & format::kBlockLandingPad) != 0;

  if (exit.kind == Exit::Kind::Inside && continuesInside(dag, exit)) {
    if ((head.flags & format::kBlockLoopHead) != 0) m_stack.changeTop().pad = format::kNoBlock;
    return;
  }
  if (isEntry && !isReturnPoint && !isLandingPad && caughtUnseen(dag, exit)) {
    enterBehindCatch(dag, exit);
    return;
  }
  const bool tailJump =
      exit.kind == Exit::Kind::TailJump || (exit.kind == Exit::Kind::Inside && exit.mayLeave);
  if (tailJump) {
    // A jump from a part that was moved away may lead to where a call returns.
    const bool toHere = !m_stack.empty() && m_stack.top().module == dag.module &&
                        dag.map->block(m_stack.top().current, exit.block).target == head.start;
    if ((toHere || isEntry || (!isReturnPoint && !isLandingPad)) && followTailJump(dag, exit)) return;
    if (!m_stack.empty()) leave(0);  // what it jumped to left no records
  }
  // A part that was moved away (f.cold) is entered by jumps and by the unwinder, never by a call.
  const bool movedPart = m_names.wholeOf(dag.module, dag.dag.function) != dag.dag.function;
  const bool called = exit.kind == Exit::Kind::Call && leadsTo(dag, exit);
  const bool thrownInto =
      !called && (isLandingPad || (movedPart && !isReturnPoint && exit.kind == Exit::Kind::Call));
  const bool known = thrownInto && findActivation(dag).has_value();
  const bool nothingFits = !isEntry && !isReturnPoint && !isLandingPad && !known &&
                           (exit.kind == Exit::Kind::Call || exit.kind == Exit::Kind::Return || tailJump);
  const bool broken =
      (exit.kind == Exit::Kind::Inside && !tailJump) || exit.kind == Exit::Kind::Stopped || nothingFits;
  if (broken) {
    if (m_notes != nullptr) ++m_notes->brokenFlow;
    gap(model::GapCause::Damaged);
  }
  if (isEntry && !known) {
    call(dag, 0, called);
    if (exit.kind == Exit::Kind::Call && !called) m_stack.changeTop().callBlock = exit.block;
  } else if (isReturnPoint && !broken && !known) {
    enterReturnPoint(dag, exit);
  } else {
    if (thrownInto) m_nextLineFlags |= model::kEntryCatch;
    enterMiddle(dag, broken ? Exit{} : exit, thrownInto);
  }
}

// Where the path goes on in another function at the block of this index, past the probe of its entry; unless
// that was in front of the cut.
void Walker::enterPassed(const ResolvedDag& dag, const CutPoint& begin, std::size_t index) {
  if (index == 0 || (index == begin.block && begin.inside)) return;
  const auto& from = m_path.blocks[index - 1];
  const auto& to = m_path.blocks[index];
  if (from.function == to.function) return;
  const auto entered = dag.in(to.function);
  const auto& block = dag.map->block(from.function, from.block);
  if (block.end == BlockEnd::Call) {
    m_stack.changeTop().returnBlock = block.successor[0];
    call(entered, 0, true);
  } else if (samePart(entered, m_stack.top())) {
    m_stack.changeTop().current = to.function;
  } else {
    const bool direct = m_stack.top().direct;
    leave(0);
    call(entered, model::kEntryTailCall, direct);
  }
}

// Whether the head is where the top frame's last block led, within the function.
bool Walker::continuesInside(const ResolvedDag& dag, const Exit& exit) const {
  if (m_stack.empty()) return false;
  const auto& frame = m_stack.top();
  if (frame.module != dag.module || frame.current != dag.dag.function) return false;
  const auto& block = dag.map->block(dag.dag.function, exit.block);
  const auto head = dag.dag.entry.firstBlock;
  if (block.end == BlockEnd::Multiway) {
    return block.successor[0] == head || block.successor[1] == head ||
           (headOf(dag).flags & format::kBlockTableTarget) != 0;
  }
  return block.successor[0] == head || block.successor[1] == head;
}

// Behind a jump out of the function: the other part of it, or another function in its place.
bool Walker::followTailJump(const ResolvedDag& dag, const Exit& exit) {
  if (m_stack.empty()) return false;
  const bool isEntry = (headOf(dag).flags & format::kBlockEntry) != 0;
  if (m_stack.top().module == dag.module && m_stack.top().current != dag.dag.function &&
      (samePart(dag, m_stack.top()) || !isEntry)) {
    m_stack.changeTop().current = dag.dag.function;
    return true;
  }
  if (!isEntry || ledElsewhere(dag, exit)) return false;
  const bool direct = m_stack.top().direct && leadsTo(dag, exit);
  leave(0);
  call(dag, model::kEntryTailCall, direct);
  return true;
}

// Whether the top frame's last block calls, or jumps to, that very place.
bool Walker::leadsTo(const ResolvedDag& dag, const Exit& exit) const {
  return !m_stack.empty() && m_stack.top().module == dag.module &&
         dag.map->block(m_stack.top().current, exit.block).target == headOf(dag).start;
}

std::string_view Walker::stubNameOf(const Frame& frame, std::uint32_t block) {
  const auto stub = stubOf(frame, block);
  return stub == 0 ? std::string_view() : m_names.stubName(frame.module, stub);
}

// Whether an exception was thrown, and something that leaves no records caught it, or cleans up after it:
// that is what called the function which is entered now.
bool Walker::caughtUnseen(const ResolvedDag& dag, const Exit& exit) {
  if (m_stack.empty()) return false;
  const auto& frame = m_stack.top();
  if (exit.kind == Exit::Kind::Call) {
    const bool resumed =
        !exit.thrown && frame.pad != format::kNoBlock && isUnwinders(stubNameOf(frame, exit.block));
    return (exit.thrown || resumed) && !isUnwinders(dag.map->functionName(dag.dag.function));
  }
  if (exit.kind != Exit::Kind::TailJump) return false;
  // That is how an unwinder leaves for a landing pad, wherever that is.
  const auto* map = (*m_input.modules)[frame.module].view();
  return map != nullptr && exit.block < map->function(frame.current).blockCount &&
         map->block(frame.current, exit.block).target == 0 && isUnwinders(map->functionName(frame.current));
}

// Whether something that left no records may have been called by the frame below that one, and have called
// it.
bool Walker::mayBeAbove(std::size_t index) {
  if (m_stack[index].direct || index == 0) return !m_stack[index].direct;
  const auto& frame = m_stack[index];
  const auto wanted = stubNameOf(m_stack[index - 1], frame.callBlock);
  const auto* map = (*m_input.modules)[frame.module].view();
  return wanted.empty() || map == nullptr || wanted != map->functionName(frame.current);
}

// Which activation caught it is not known: the innermost that may have is taken for it, and what was called
// from there, the thrower too, is left. If there is none, the thrower may be there still: it ends the
// program.
void Walker::enterBehindCatch(const ResolvedDag& dag, const Exit& exit) {
  const auto lowest = m_state.handlers.empty() ? 0 : m_state.handlers.back().stackSize;
  auto kept = m_stack.size();
  bool between = false;  // something that left no records may be above what is kept
  const auto unwinders = [&](const Frame& frame) {
    const auto* map = (*m_input.modules)[frame.module].view();
    return map != nullptr && isUnwinders(map->functionName(frame.current));
  };
  while (kept > lowest && unwinders(m_stack[kept - 1])) between = mayBeAbove(--kept);
  while (kept > lowest && !between) between = mayBeAbove(--kept);
  if (kept > lowest || exit.kind == Exit::Kind::TailJump)
    while (m_stack.size() > kept) leave(model::kEntryInterrupted);
  gap(model::GapCause::Unknown);
  call(dag, 0, false);
}

// Whether the top frame's block went through a stub to a function of another name: that one left no records,
// and what was entered now was entered from outside.
bool Walker::ledElsewhere(const ResolvedDag& dag, const Exit& exit) {
  const auto stub = stubOf(exit);
  const auto wanted = stub == 0 ? std::string_view() : m_names.stubName(m_stack.top().module, stub);
  const auto entered = dag.map->functionName(dag.dag.function);
  if (wanted.empty() || entered.empty() || wanted == entered) return false;
  // Constructors and destructors have several names each.
  return model::demangle(wanted) != model::demangle(entered);
}

// The stub through which the frame's block calls or jumps to another file; 0 if it does not.
std::uint32_t Walker::stubOf(const Frame& frame, std::uint32_t block) {
  const auto* map = (*m_input.modules)[frame.module].view();
  if (map == nullptr || block >= map->function(frame.current).blockCount) return 0;
  const auto target = map->block(frame.current, block).target;
  const auto callee = target != 0 ? map->functionAt({target}) : std::nullopt;
  const bool isStub =
      target != 0 && (!callee || map->function(*callee).original != target ||
                      map->function(*callee).skipReason == std::uint32_t(format::SkipReason::StartupCode));
  if (!isStub) return 0;
  if (m_fill != nullptr) m_fill->needStub(frame.module, target);
  return target;
}

template <typename Wanted>
std::optional<std::size_t> Walker::findFrame(Wanted wanted) {
  constexpr std::size_t kAlways = 64;
  std::size_t looked = 0;
  for (auto i = m_stack.size(); i-- > 0; ++looked) {
    if (wanted(m_stack[i])) return i;
    if (looked >= kAlways && looked >= m_state.searchBudget) break;
  }
  m_state.searchBudget -= std::min<std::uint64_t>(looked, m_state.searchBudget);
  return std::nullopt;
}

// The activation that has this return point: one that waits for a call to return there; or, for what
// returns twice (setjmp), one that was there before, or whose past is not known.
std::optional<std::size_t> Walker::findReturn(const ResolvedDag& dag) {
  const auto block = dag.dag.entry.firstBlock;
  const auto here = [&](const Frame& frame) {
    return frame.module == dag.module && frame.current == dag.dag.function;
  };
  if (auto found = findFrame([&](const Frame& frame) { return here(frame) && frame.returnBlock == block; }))
    return found;
  if (auto found =
          findFrame([&](const Frame& frame) { return here(frame) && frame.mayHaveReturnedTo(block); }))
    return found;
  return findFrame([&](const Frame& frame) { return here(frame) && !frame.seenWhole; });
}

std::optional<std::size_t> Walker::findActivation(const ResolvedDag& dag) {
  return findFrame([&](const Frame& frame) { return samePart(dag, frame); });
}

void Walker::enterReturnPoint(const ResolvedDag& dag, const Exit& exit) {
  if (const auto found = findReturn(dag)) {
    if (exit.kind == Exit::Kind::Call && *found + 1 == m_stack.size()) markUntracedCall(exit);
    unwindTo(*found + 1);
  } else {
    enterUnknownFrame(dag, exit, true);
  }
  auto& frame = m_stack.changeTop();
  frame.returnBlock = format::kNoBlock;
  frame.notePassed(dag.dag.entry.firstBlock);
}

// The line that stands last ends in the top frame's call, whose callee left no records.
void Walker::markUntracedCall(const Exit& exit) {
  auto& line = m_state.pending;
  if (!line || line->kind != model::EntryKind::Line) return;
  line->flags |= model::kEntryUntracedCall;
  line->detail = 0;
  if (m_stack.empty()) return;
  const auto& frame = m_stack.top();
  if (const auto stub = stubOf(exit); stub != 0) {
    const auto function = m_names.stubFunction(frame.module, stub);
    line->detail = function.valid() ? 2 + function.value : model::kCalleeStub;
    return;
  }
  const auto* map = (*m_input.modules)[frame.module].view();
  if (map == nullptr || exit.block >= map->function(frame.current).blockCount) return;
  const auto target = map->block(frame.current, exit.block).target;
  const auto callee = target != 0 ? map->functionAt({target}) : std::nullopt;
  if (!callee) return;
  if (m_fill != nullptr) m_fill->needFunction(frame.module, *callee);
  line->detail = 2 + m_names.functionOf(frame.module, *callee).value;
}

// What an exception was thrown into is the innermost activation, but one that has been through this very pad
// and then called something that left no records: that was the unwinder, to go on with the exception.
std::optional<std::size_t> Walker::findThrownInto(const ResolvedDag& dag, const Exit& exit) {
  const auto found = findActivation(dag);
  if (!found || *found + 1 != m_stack.size() || exit.kind != Exit::Kind::Call) return found;
  if (m_stack.top().pad != dag.dag.entry.firstBlock || m_stack.top().current != dag.dag.function)
    return found;
  const auto* top = &m_stack.top();
  const auto outer = findFrame([&](const Frame& frame) { return &frame != top && samePart(dag, frame); });
  return outer ? outer : found;
}

void Walker::enterMiddle(const ResolvedDag& dag, const Exit& exit, bool thrown) {
  if (const auto found = thrown ? findThrownInto(dag, exit) : findActivation(dag)) {
    unwindTo(*found + 1);
    auto& frame = m_stack.changeTop();
    frame.current = dag.dag.function;
    frame.returnBlock = format::kNoBlock;
  } else {
    enterUnknownFrame(dag, exit, thrown);
  }
  if (thrown) m_stack.changeTop().pad = dag.dag.entry.firstBlock;
}

// An activation of which nothing was seen before: one that is older than the recorded history, into which
// control returned or was thrown, or, if all since the thread's start is known, one on another stack.
void Walker::enterUnknownFrame(const ResolvedDag& dag, const Exit& exit, bool entered) {
  const bool elsewhere = !m_state.handlers.empty() || (entered && m_state.startSeen);
  if (!m_stack.empty() && elsewhere) {
    call(dag, 0, false);
    m_stack.changeTop().seenWhole = false;
    return;
  }
  const bool fromInside = !m_stack.empty() || exit.kind == Exit::Kind::Return;
  unwindTo(0);
  pushFrame(dag, fromInside ? m_state.outerDepth : m_state.outerDepth + 1, false);
}

// Ends the frames above, for control is in the one below them, and they were not seen to return. Handlers
// that had interrupted that one are left.
void Walker::unwindTo(std::size_t size) {
  while (!m_state.handlers.empty() && m_state.handlers.back().stackSize >= size) m_state.handlers.pop_back();
  while (m_stack.size() > size) leave(model::kEntryInterrupted);
}

void Walker::call(const ResolvedDag& dag, std::uint16_t flags, bool direct) {
  // The runtime stands before that function of a C++ library which is found by name, not before one's own.
  if (direct && m_names.isThrower(dag.module, dag.dag.function)) emitException(endOfLine(), 0);
  const auto depth = currentDepth() + (m_stack.empty() ? 0 : 1);
  auto entry = make(model::EntryKind::Call);
  entry.depth = depth;
  entry.flags |= flags;
  entry.module = {dag.module};
  entry.function = m_names.functionOf(dag.module, dag.dag.function);
  entry.address = entry.last = {dag.map->function(m_names.wholeOf(dag.module, dag.dag.function)).original};
  emit(entry);
  pushFrame(dag, depth, true);
  m_stack.changeTop().direct = direct;
}

void Walker::pushFrame(const ResolvedDag& dag, std::int32_t depth, bool whole) {
  Frame frame;
  frame.module = dag.module;
  frame.current = dag.dag.function;
  frame.function = m_names.functionOf(dag.module, dag.dag.function);
  frame.depth = depth;
  frame.seenWhole = whole;
  m_stack.push(frame);
}

void Walker::leave(std::uint16_t flags) {
  leaveInlined(0, flags);
  auto entry = make(model::EntryKind::Return);
  entry.flags |= flags;
  emit(entry);
  const auto depth = m_stack.top().depth;
  m_stack.pop();
  if (m_stack.empty()) m_state.outerDepth = depth - 1;
}

}  // namespace traceback::loader
