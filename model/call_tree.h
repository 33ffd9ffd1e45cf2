// The calls around a place in a thread's trace, found through the index, never by expanding it all.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "model/entry.h"
#include "model/ids.h"

namespace traceback::model {

class ThreadTrace;

// A call as far as the trace shows it. `call` is its Call entry: nothing if that was not seen, as when the
// trace begins inside the call or goes on in it after a gap.
struct CallSpan {
  std::optional<EntryIndex> call;
  EntryIndex first = 0;    // first entry inside
  EntryIndex end = 0;      // one past the last entry inside, its Return (if seen) included
  std::int32_t depth = 0;  // of the entries directly in it
  FunctionId function;
  bool finished = false;  // its Return was seen
};

// The calls that enclose an entry, innermost first: the active calls at that moment. A Call entry lies in its
// caller, a Return in the call that it ends. Levels of which nothing but their depth is known are there too.
std::vector<CallSpan> activeCalls(const ThreadTrace& thread, EntryIndex at);

// The direct children of a span of entries, in order: at most `limit`, beginning with the first that starts
// at or after `from`. A child is a steppable entry of the call itself, or a call one level deeper: its Call
// entry, or, if that was not seen, its first entry, whatever its kind.
struct Child {
  EntryIndex index = 0;
  Entry entry;
  std::optional<CallSpan> call;  // if it is a call
};
std::vector<Child> children(const ThreadTrace& thread, const CallSpan& span, EntryIndex from,
                            std::size_t limit);

// All of the thread as one span, one level above its outermost entries: its children are the outermost calls,
// so that activeCalls() backwards is a way down from here.
CallSpan wholeTrace(const ThreadTrace& thread);

}  // namespace traceback::model
