#include "loader/reconstruct/uncaught_exception.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <string_view>

namespace traceback::loader {

using model::EntryKind;

namespace {

// By whose call the C++ libraries of GCC and LLVM end the process. In a stripped one some have no names any
// more; the handler that GCC's comes with has.
bool isTerminate(std::string_view name) {
  constexpr std::array<std::string_view, 6> kNames = {
      "_ZSt9terminatev",      "_ZSt11__terminatePFvvE", "_ZN10__cxxabiv111__terminateEPFvvE",
      "__cxa_call_terminate", "__clang_call_terminate", "_ZN9__gnu_cxx27__verbose_terminate_handlerEv"};
  return std::ranges::contains(kNames, name);
}

// What a landing pad calls itself where it may not be left.
bool isTerminateOfPad(std::string_view name) {
  return name == "__cxa_call_terminate" || name == "__clang_call_terminate";
}

bool isFault(std::uint32_t signal) {
  constexpr std::array<std::uint32_t, 5> kFaults = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
  return std::ranges::contains(kFaults, signal);
}

}  // namespace

void UncaughtException::add(model::EntryIndex index, const model::Entry& entry) {
  if (m_aborted) {
    // What its handler raises is still for that; otherwise it has survived.
    const bool isNext = entry.kind == EntryKind::Signal && (entry.flags & model::kEntryInHandler) == 0 &&
                        (entry.detail == SIGABRT || isFault(entry.detail));
    if (!isNext) return;
    m_aborted = false;
    m_exceptions.clear();
    return;
  }
  if (entry.kind == EntryKind::Exception) return addThrown(index, entry);
  if (m_exceptions.empty()) return;
  // Landing pads begin with the calls of what is inlined there.
  const bool isInlinedCall = entry.kind == EntryKind::Call && (entry.flags & model::kEntryInlined) != 0;
  if (isInlinedCall && !m_followsInlinedCall) m_frameDepth = entry.depth - 1;
  if (entry.kind == EntryKind::Line && !m_followsInlinedCall) m_frameDepth = entry.depth;
  m_followsInlinedCall = isInlinedCall;
  Exception& last = m_exceptions.back();
  switch (entry.kind) {
    case EntryKind::Gap:
      if (last.state != State::Terminates) m_exceptions.clear();
      break;
    case EntryKind::Signal:
      if (isFault(entry.detail))
        m_exceptions.clear();
      else if (entry.detail == SIGABRT)
        m_aborted = last.state == State::Terminates;
      break;
    case EntryKind::Line:
      if (last.state == State::Thrown && (entry.flags & model::kEntryCatch) != 0) {
        last.state = State::CleansUp;
        last.depth = m_frameDepth;
      } else if (isLeft(last, entry.depth)) {
        m_exceptions.pop_back();
      }
      break;
    case EntryKind::Call:
      if ((entry.flags & model::kEntryInlined) == 0) addCall(entry);
      break;
    default:
      break;
  }
}

// Whether a line at that depth shows that the exception went nowhere any more: what caught it left no
// records.
bool UncaughtException::isLeft(const Exception& one, std::int32_t depth) {
  switch (one.state) {
    case State::Thrown:
    case State::Terminates:
      return depth <= one.depth;
    case State::CleansUp:
      return depth < one.depth;
    case State::Caught:
      return false;
  }
  return false;
}

void UncaughtException::push(const Exception& one) {
  // Of handlers that were left without a record of that, too.
  if (m_exceptions.size() >= kMost) m_exceptions.erase(m_exceptions.begin());
  m_exceptions.push_back(one);
}

void UncaughtException::addThrown(model::EntryIndex index, const model::Entry& entry) {
  if (!m_exceptions.empty() && m_exceptions.back().state == State::Terminates) return;
  // What was on its way further in is gone: something caught it that left no records.
  const auto isGone = [&](const Exception& one) { return one.depth >= entry.depth && one.handlers == 0; };
  while (!m_exceptions.empty() && isGone(m_exceptions.back())) m_exceptions.pop_back();
  push({.entry = index,
        .type = entry.detail,
        .time = entry.time,
        .again = (entry.flags & model::kEntryAgain) != 0,
        .depth = entry.depth});
}

void UncaughtException::addCall(const model::Entry& call) {
  const auto callee = m_names.linkageName(call.function);
  if (callee == "__cxa_end_catch") return endHandler();
  if (isRethrower(callee)) return startAgain(call);
  if (callee == "_Unwind_RaiseException") return raise(call);
  Exception& last = m_exceptions.back();
  switch (last.state) {
    case State::Thrown:
      if (call.depth <= last.depth)
        m_exceptions.pop_back();
      else if (call.depth == last.depth + 1 && callee == kThrower && !last.again)
        last.seen = true;
      else if (last.seen && isTerminate(callee))
        last.state = State::Terminates;
      break;
    case State::CleansUp:
      if (callee == "__cxa_begin_catch") {
        last.state = State::Caught;
        ++last.handlers;
      } else if (callee == "_Unwind_Resume") {
        throwAgain(call);
      } else if (isTerminateOfPad(callee)) {
        last.state = State::Terminates;
      }
      break;
    case State::Caught:
      if (callee == "__cxa_rethrow") throwAgain(call);
      break;
    case State::Terminates:
      break;
  }
}

// Of one that has a record; or of another one, which is not known. LLVM's calls another of its own.
void UncaughtException::startAgain(const model::Entry& call) {
  Exception& last = m_exceptions.back();
  if (last.state == State::Terminates) return;
  const bool goesOn = last.state == State::Thrown && !last.raised && call.depth > last.depth &&
                      (last.seen || (last.again && call.depth == last.depth + 1));
  if (goesOn)
    last.seen = true;
  else
    push({.seen = true, .depth = call.depth - 1});
}

// Of one that was seen to be thrown, or of another one.
void UncaughtException::raise(const model::Entry& call) {
  Exception& last = m_exceptions.back();
  if (last.state == State::Terminates) return;
  if (last.state == State::Thrown && last.seen && !last.raised && call.depth > last.depth) {
    last.raised = true;
    return;
  }
  push({.seen = true, .depth = call.depth - 1});
}

// One that is thrown again, or another one out of its handler, ends that on its way.
void UncaughtException::endHandler() {
  const auto handled =
      std::ranges::find_last_if(m_exceptions, [](const Exception& one) { return one.handlers != 0; });
  if (handled.empty() || m_exceptions.back().state == State::Terminates) return;
  Exception& one = handled.front();
  if (--one.handlers == 0 && one.state == State::Caught) m_exceptions.erase(handled.begin());
}

void UncaughtException::throwAgain(const model::Entry& call) {
  Exception& last = m_exceptions.back();
  last.state = State::Thrown;
  last.seen = last.raised = true;
  last.depth = call.depth - 1;
}

}  // namespace traceback::loader
