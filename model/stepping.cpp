#include "model/stepping.h"

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
  return fault ? fault : finalPosition(thread);
}

}  // namespace traceback::model
