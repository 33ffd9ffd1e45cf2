#include "model/call_tree.h"

#include <algorithm>

#include "model/stepping.h"
#include "model/trace.h"

namespace traceback::model {

namespace {

// The level at which an entry stands in the tree: that of the call which it is directly in.
std::int32_t levelOf(const Entry& entry) {
  return entry.kind == EntryKind::Call && entry.depth > INT32_MIN ? entry.depth - 1 : entry.depth;
}

// Which function a span without a Call entry is of: its Return says, or a line directly in it.
FunctionId functionWithin(const ThreadTrace& thread, const CallSpan& span) {
  if (span.finished) return thread.entry(span.end - 1).function;
  // Gaps and signals may not know; a few entries are enough to find a line if there is one.
  constexpr int kTries = 8;
  std::optional<EntryIndex> at = span.first;
  const Entry first = thread.entry(span.first);
  if (!isSteppable(first.kind) || first.depth != span.depth) at = thread.nextAtMost(span.first, span.depth);
  for (int tries = 0; tries < kTries && at && *at < span.end; ++tries) {
    const Entry entry = thread.entry(*at);
    if (entry.function.valid()) return entry.function;
    at = thread.nextAtMost(*at, span.depth);
  }
  return {};
}

// What ends a span that begins before `after`, the first entry from within it whose edge lies outside.
void setEnd(const ThreadTrace& thread, CallSpan& span, std::optional<EntryIndex> after) {
  span.end = thread.entryCount();
  if (!after) return;
  // A Return that ends the span belongs to it; any other bound does not.
  const Entry bound = thread.entry(*after);
  span.finished = bound.kind == EntryKind::Return && bound.depth == span.depth;
  span.end = span.finished ? *after + 1 : *after;
}

// The span at `depth` around an entry of that level or a deeper one. `before` and `after` are the nearest
// entries with an edge depth less than `depth`, before it, and from it on.
CallSpan spanAround(const ThreadTrace& thread, EntryIndex at, std::int32_t depth,
                    std::optional<EntryIndex> before, std::optional<EntryIndex> after) {
  CallSpan span;
  span.depth = depth;
  span.first = before ? *before + 1 : 0;
  if (before) {
    const Entry bound = thread.entry(*before);
    if (bound.kind == EntryKind::Call && bound.depth == depth) {
      span.call = *before;
      span.function = bound.function;
    }
  }
  // A Sync belongs to no call in particular, so none begins with it.
  while (!span.call && span.first < at && thread.entry(span.first).kind == EntryKind::Sync) ++span.first;
  setEnd(thread, span, after);
  if (!span.function.valid()) span.function = functionWithin(thread, span);
  return span;
}

CallSpan spanAround(const ThreadTrace& thread, EntryIndex at, std::int32_t depth) {
  const bool ends = edgeDepth(thread.entry(at)) < depth;
  return spanAround(thread, at, depth, thread.previousEdge(at, depth - 1),
                    ends ? std::optional(at) : thread.nextEdge(at, depth - 1));
}

// The span that a Call entry opens.
CallSpan spanOfCall(const ThreadTrace& thread, EntryIndex call, const Entry& entry) {
  CallSpan span;
  span.call = call;
  span.depth = entry.depth;
  span.function = entry.function;
  span.first = call + 1;
  setEnd(thread, span, thread.nextEdge(call, entry.depth - 1));
  return span;
}

}  // namespace

std::vector<CallSpan> activeCalls(const ThreadTrace& thread, EntryIndex at) {
  std::vector<CallSpan> spans;
  if (at >= thread.entryCount() || thread.leastEdgeDepth() == INT32_MAX) return spans;
  const std::int32_t outermost = wholeTrace(thread).depth + 1;
  const std::int32_t innermost = levelOf(thread.entry(at));
  if (innermost < outermost) return spans;
  // The bounds of a level are those of the next one out too, unless they bound just this one. So the searches
  // go on from where they are, and a deep stack costs no more than its bounds.
  std::optional<EntryIndex> before = thread.previousEdge(at, innermost - 1);
  std::optional<EntryIndex> after = at;
  for (std::int32_t depth = innermost; depth >= outermost; --depth) {
    if (before && edgeDepth(thread.entry(*before)) >= depth) before = thread.previousEdge(*before, depth - 1);
    if (after && edgeDepth(thread.entry(*after)) >= depth) after = thread.nextEdge(*after, depth - 1);
    spans.push_back(spanAround(thread, at, depth, before, after));
  }
  return spans;
}

std::vector<Child> children(const ThreadTrace& thread, const CallSpan& span, EntryIndex from,
                            std::size_t limit) {
  std::vector<Child> found;
  const EntryIndex end = std::min(span.end, thread.entryCount());
  EntryIndex at = std::max(from, span.first);
  // If `from` is within a child, that one began before.
  if (at > span.first) {
    while (at < end && thread.entry(at).kind == EntryKind::Sync) ++at;
    if (at < end && levelOf(thread.entry(at)) > span.depth) {
      const CallSpan child = spanAround(thread, at, span.depth + 1);
      if (child.call.value_or(child.first) < at) at = child.end;
    }
  }
  while (at < end && found.size() < limit) {
    const Entry entry = thread.entry(at);
    const bool ownReturn = entry.kind == EntryKind::Return && entry.depth <= span.depth;
    if (entry.kind == EntryKind::Sync || ownReturn) {
      ++at;
    } else if (entry.kind == EntryKind::Call && entry.depth == span.depth + 1) {
      found.push_back({at, entry, spanOfCall(thread, at, entry)});
      at = found.back().call->end;
    } else if (levelOf(entry) <= span.depth) {
      found.push_back({at, entry, {}});
      ++at;
    } else {
      const CallSpan unseen = spanAround(thread, at, span.depth + 1);
      found.push_back({at, entry, unseen});
      at = unseen.end;
    }
  }
  return found;
}

CallSpan wholeTrace(const ThreadTrace& thread) {
  CallSpan span;
  span.end = thread.entryCount();
  // A Call or Return counts one less than its depth, which is the level of the root above it.
  const std::int32_t edge = thread.leastEdgeDepth(), line = thread.leastLineDepth();
  const std::int32_t outermost = std::min(edge == INT32_MAX ? edge : edge + 1, line);
  span.depth = outermost == INT32_MAX ? -1 : outermost - 1;
  return span;
}

}  // namespace traceback::model
