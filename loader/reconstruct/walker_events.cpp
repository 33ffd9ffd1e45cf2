// Events: what records other than DAGs say of the thread, signals and their handlers among them.
#include <algorithm>
#include <csignal>
#include <optional>

#include "loader/reconstruct/walker.h"
#include "runtime/format/wait.h"

namespace traceback::loader {

using format::RecordType;
using format::SignalBeginField;

namespace {

// Nothing for those of a later writer.
std::optional<model::SyncCause> syncCauseOf(std::uint16_t detail) {
  switch (static_cast<format::SyncKind>(detail)) {
    case format::SyncKind::Fork:
      return model::SyncCause::Fork;
    case format::SyncKind::ThreadCreate:
      return model::SyncCause::ThreadCreate;
    case format::SyncKind::ThreadJoin:
      return model::SyncCause::ThreadJoin;
  }
  switch (static_cast<format::WaitKind>(detail)) {
    case format::WaitKind::Condition:
      return model::SyncCause::WaitCondition;
    case format::WaitKind::Barrier:
      return model::SyncCause::WaitBarrier;
    case format::WaitKind::Sleep:
      return model::SyncCause::WaitSleep;
    case format::WaitKind::Poll:
      return model::SyncCause::WaitPoll;
    case format::WaitKind::Child:
      return model::SyncCause::WaitChild;
    case format::WaitKind::ThreadJoin:
      break;  // above
  }
  return std::nullopt;
}

model::GapCause gapCauseOf(std::uint16_t detail) {
  switch (static_cast<format::GapReason>(detail)) {
    case format::GapReason::NestedTooDeep:
      return model::GapCause::HandlerTooDeep;
    case format::GapReason::HandlerNotWrapped:
      return model::GapCause::HandlerNotWrapped;
    case format::GapReason::Overwritten:
      return model::GapCause::Overwritten;
    case format::GapReason::NoRing:
      return model::GapCause::NoRing;
    case format::GapReason::Shared:
      return model::GapCause::Shared;
    case format::GapReason::Forked:
      return model::GapCause::Forked;
    default:
      return model::GapCause::Unknown;  // a later writer's, too
  }
}

bool beginsWithTime(RecordType type) {
  // A later writer's may begin with anything.
  return type >= RecordType::ThreadStart && type <= RecordType::Gap && type != RecordType::LoopCount &&
         type != RecordType::Resumption;
}

}  // namespace

void Walker::takeEvent(const Record& record, std::uint8_t segment) {
  const auto type = record.type();
  // A handler's segment may have a new sub-buffer, and so a time stamp, in front of the next handler: that is
  // the next one's.
  const bool early = type == RecordType::Timestamp && segment != 0 &&
                     (m_state.handlers.empty() || m_state.handlers.back().segment != segment);
  if (beginsWithTime(type) && !early) {
    const auto time = record.value(0);
    // Read, but not yet written when a signal came, or another thread looked: what was read then is later.
    const bool overtaken =
        time && ((segment < m_state.timeSegment && *time < m_state.time.value) || *time < m_state.seen.value);
    if (time && !overtaken) {
      m_state.time = {*time};
      m_state.timeSegment = segment;
    }
  }
  const auto sync = [&](model::SyncCause cause) {
    auto entry = make(model::EntryKind::Sync);
    entry.detail = static_cast<std::uint32_t>(cause);
    if (m_state.exit.kind == Exit::Kind::Call) markUntracedCall(m_state.exit);
    emit(entry);
  };
  switch (type) {
    case RecordType::ThreadStart:
      m_state.handlers.clear();
      unwindTo(0);
      m_state.outerDepth = -1;
      m_state.startSeen = true;
      m_state.exit = {};
      sync(model::SyncCause::ThreadStart);
      m_afterGap = false;
      break;
    case RecordType::ThreadEnd:
      sync(model::SyncCause::ThreadEnd);
      m_state.handlers.clear();
      unwindTo(0);
      m_state.exit = {};
      break;
    case RecordType::SignalBegin:
      beginSignal(record, segment);
      break;
    case RecordType::SignalEnd:
      endSignal(record, segment);
      break;
    case RecordType::Exception: {
      const model::RuntimeAddr pc{record.value(1).value_or(0)};
      const auto thrown = m_readers[segment].text(record, 3);
      if (m_fill != nullptr) m_fill->needExceptionType(thrown);
      // The runtime, where that was called itself, is only on the way to the C++ library.
      const bool byItself = isThrower(pc.value);
      if (m_state.exit.kind == Exit::Kind::Call && !byItself) markUntracedCall(m_state.exit);
      const bool again = record.detail() == static_cast<std::uint16_t>(format::ExceptionDetail::Again);
      if (again && m_firstThrows != nullptr) m_firstThrows->push_back({record.value(2).value_or(0)});
      emitException(m_input.modules->original(pc), m_names.exceptionType(thrown),
                    again ? model::kEntryAgain : 0);
      m_state.exit.thrown = byItself;
      break;
    }
    case RecordType::ModuleLoad:
      sync(model::SyncCause::ModuleLoad);
      break;
    case RecordType::ModuleUnload:
      sync(model::SyncCause::ModuleUnload);
      break;
    case RecordType::Sync:
      if (const auto cause = syncCauseOf(record.detail())) {
        sync(*cause);
      } else if (m_notes != nullptr) {
        ++m_notes->unknownSyncs[record.detail()];
      }
      break;
    case RecordType::Snap:
      sync(model::SyncCause::Snap);
      break;
    case RecordType::Resumption:
      // Control is back from the handlers that wrote higher segments; their frames are the live ones now.
      while (!m_state.handlers.empty() && m_state.handlers.back().segment > segment)
        m_state.handlers.pop_back();
      break;
    case RecordType::Gap:
      gap(gapCauseOf(record.detail()));
      m_state.exit = {};
      break;
    case RecordType::LoopCount:
      gap(model::GapCause::Unknown);
      break;  // written by nothing yet
    case RecordType::Timestamp:
      break;
    default:
      if (m_notes != nullptr) ++m_notes->unknownRecords[static_cast<unsigned>(type)];
      break;
  }
}

// Whether the top frame itself called what throws, from there.
bool Walker::isThrower(std::uint64_t pc) const {
  if (m_state.exit.kind != Exit::Kind::Call || m_stack.empty()) return false;
  const auto place = m_input.modules->original({pc});
  return place && place->inCopy && place->module == m_stack.top().module &&
         place->function == m_stack.top().current;
}

const WalkState::Handler* WalkState::faultHandler() const {
  const auto found =
      std::ranges::find_if(handlers, [](const Handler& handler) { return handler.fault.has_value(); });
  return found != handlers.end() ? &*found : nullptr;
}

void Walker::beginSignal(const Record& record, std::uint8_t segment) {
  const auto value = [&](SignalBeginField field) {
    return record.value(static_cast<std::size_t>(field)).value_or(0);
  };
  const auto sequence = value(SignalBeginField::Sequence);
  if (m_state.anySignal && sequence > m_state.nextSignal) {
    if (m_notes != nullptr) m_notes->lostSignals += sequence - m_state.nextSignal;
    gap(model::GapCause::Overwritten);
  }
  m_state.anySignal = true;
  m_state.nextSignal = sequence + 1;

  const auto number = static_cast<std::uint32_t>(record.detail() & format::kSignalNumberMask);
  const bool fatal = (record.detail() & format::kSignalFatal) != 0;
  const auto sender = value(SignalBeginField::SenderOrCode);
  const auto code = static_cast<std::int32_t>(sender);
  const bool faulted = isFaultOfInstruction(number, code);
  const bool aborted = number == SIGABRT && code <= 0 && sender >> 32 == m_input.timeline.pid;
  const model::RuntimeAddr pc{value(SignalBeginField::Pc)};
  const auto position = value(SignalBeginField::Position), before = value(SignalBeginField::Record);
  // Within the handler, or, for it was blocked there, as soon as that has come back to the fault.
  const WalkState::Handler* handler = m_state.faultHandler();
  if (const auto& last = m_state.lastEnded;
      handler == nullptr && last && last->pc == pc && last->position == position && last->record == before)
    handler = &*last;
  const bool raisedByHandler = fatal && code <= 0 && handler != nullptr;
  const bool handled = aborted && !fatal && handler == nullptr;
  if (faulted || handled || (fatal && !raisedByHandler)) markPending(model::kEntryFault);
  if (raisedByHandler) m_state.handledFault = handler->fault;
  m_state.died = m_state.died || fatal;

  auto entry = make(model::EntryKind::Signal);
  entry.detail = number;
  entry.module = {};  // unless its place is known
  if (const auto place = m_input.modules->original(pc)) {
    entry.module = {place->module};
    entry.address = entry.last = place->address;
  }
  emit(entry);
  while (!m_state.handlers.empty() && m_state.handlers.back().segment >= segment) m_state.handlers.pop_back();
  m_state.handlers.push_back({.stackSize = m_stack.size(),
                              .exit = m_state.exit,
                              .segment = segment,
                              .pc = pc,
                              .position = position,
                              .record = before});
  if (faulted || aborted)
    m_state.handlers.back().fault = {.signal = number,
                                     .code = static_cast<std::uint32_t>(code),
                                     .address = {value(SignalBeginField::FaultAddress)}};
  m_state.exit = {.kind = Exit::Kind::Signal};
}

void Walker::endSignal(const Record& record, std::uint8_t segment) {
  if (m_state.handlers.empty() || m_state.handlers.back().segment != segment) return;
  const auto handler = m_state.handlers.back();
  while (m_stack.size() > handler.stackSize) leave(model::kEntryInterrupted);
  m_state.handlers.pop_back();
  m_state.exit = handler.exit;
  // (abort() goes on to end the process where its signal's handler comes back.)
  if (handler.fault && handler.fault->signal != SIGABRT) m_state.lastEnded = handler;
  const auto pc = record.value(1);
  if (pc && model::RuntimeAddr{*pc} == handler.pc) return;
  gap(model::GapCause::Unknown);  // the handler sent the thread somewhere else, into original code
  m_state.exit = {};
}

}  // namespace traceback::loader
