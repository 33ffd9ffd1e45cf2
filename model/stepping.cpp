#include "model/stepping.h"

#include <csignal>

#include "model/trace.h"

namespace traceback::model {

std::optional<EntryIndex> step(const ThreadTrace& thread, EntryIndex from, Step how) {
  if (from >= thread.entryCount()) return {};
  constexpr std::int32_t kAnyDepth = INT32_MAX;
  const std::int32_t here = thread.entry(from).depth;
  switch (how) {
    case Step::Into:
      return thread.nextAtMost(from, kAnyDepth);
    case Step::Back:
      return thread.previousAtMost(from, kAnyDepth);
    case Step::Over:
      return thread.nextAtMost(from, here);
    case Step::BackOver:
      return thread.previousAtMost(from, here);
    case Step::Out:
      return here == INT32_MIN ? std::nullopt : thread.nextAtMost(from, here - 1);
    case Step::BackOut:
      return here == INT32_MIN ? std::nullopt : thread.previousAtMost(from, here - 1);
  }
  return {};
}

std::optional<EntryIndex> standingPlace(const ThreadTrace& thread, EntryIndex index, EntryKind kind) {
  if (isSteppable(kind)) return index;
  return kind == EntryKind::Return ? thread.previousAtMost(index, INT32_MAX)
                                   : thread.nextAtMost(index, INT32_MAX);
}

namespace {

// Not where a program, or a library, gave up by itself.
bool isFaultyInstruction(const ThreadTrace& thread, EntryIndex at) {
  const Entry entry = thread.entry(at);
  if (entry.kind != EntryKind::Line || (entry.flags & kEntryFault) == 0) return false;
  const Entry behind = thread.entry(at + 1);
  return behind.kind != EntryKind::Signal || behind.detail != SIGABRT;
}

EntryIndex innermostWithLine(const ThreadTrace& thread, EntryIndex at) {
  auto outer = std::optional(at);
  if (thread.entry(at).kind == EntryKind::Signal) outer = step(thread, at, Step::BackOver);
  for (; outer; outer = step(thread, *outer, Step::BackOut))
    if (thread.entry(*outer).line != 0) return *outer;
  return at;
}

}  // namespace

std::optional<EntryIndex> finalPosition(const ThreadTrace& thread) {
  const auto fault = thread.info().fault;
  if (fault && *fault < thread.entryCount()) return fault;
  return thread.previousAtMost(thread.entryCount(), INT32_MAX);
}

std::optional<EntryIndex> faultPosition(const ThreadTrace& thread) {
  const auto& info = thread.info();
  const auto fault = info.fault ? info.fault : info.otherFault;
  return fault && *fault < thread.entryCount() ? fault : std::nullopt;
}

std::optional<EntryIndex> initialPosition(const ThreadTrace& thread) {
  const auto fault = faultPosition(thread);
  const auto at = fault ? fault : finalPosition(thread);
  if (!at || !thread.info().atFault || isFaultyInstruction(thread, *at)) return at;
  return innermostWithLine(thread, *at);
}

}  // namespace traceback::model
