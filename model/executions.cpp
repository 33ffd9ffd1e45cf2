#include "model/executions.h"

#include <optional>

#include "model/trace.h"

namespace traceback::model {

bool goesOn(const Entry& before, EntryIndex beforeAt, const Entry& entry, EntryIndex at) {
  if (!runsLine(before) || !runsLine(entry)) return false;
  const bool isSameLine = before.line == entry.line && before.file == entry.file &&
                          executionDepth(before) == executionDepth(entry);
  const bool isAfterCall =
      entry.kind == EntryKind::Call || at > beforeAt + 1 || (before.flags & kEntryUntracedCall) != 0;
  return isSameLine && isAfterCall && entry.address > before.last;
}

namespace {

// What ran a line before in the same call; a signal that interrupted it, what was noted and calls that it
// made are none.
std::optional<EntryIndex> ranBefore(const ThreadTrace& thread, EntryIndex at, std::int32_t depth) {
  constexpr int kFurthest = 256;  // calls in a row without a line of their caller's
  auto before = thread.previousEdge(at, depth);
  for (int i = 0; before && i < kFurthest; ++i, before = thread.previousEdge(*before, depth)) {
    const Entry entry = thread.entry(*before);
    if (runsLine(entry)) return before;
    const bool isCall = entry.kind == EntryKind::Call || entry.kind == EntryKind::Return;
    if (entry.kind != EntryKind::Signal && !(isCall && entry.depth > depth)) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

bool continuesLine(const ThreadTrace& thread, EntryIndex at, const Entry& entry) {
  if (!runsLine(entry)) return false;
  const auto before = ranBefore(thread, at, executionDepth(entry));
  return before && goesOn(thread.entry(*before), *before, entry, at);
}

EntryIndex executionStart(const ThreadTrace& thread, EntryIndex at) {
  for (Entry entry = thread.entry(at); continuesLine(thread, at, entry); entry = thread.entry(at))
    at = *ranBefore(thread, at, executionDepth(entry));
  return at;
}

}  // namespace traceback::model
