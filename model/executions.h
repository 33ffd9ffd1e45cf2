// Executions of source lines: which entries begin one, and which go on with one.
//
// A line all of whose code is inlined has no Line entry: it runs as the Call of what it calls.
#pragma once

#include <cstdint>

#include "model/entry.h"
#include "model/ids.h"

namespace traceback::model {

class ThreadTrace;

// A Line with a number, or the beginning of an inlined call from a known line.
constexpr bool runsLine(const Entry& entry) {
  const bool isSite = beginsCall(entry) && (entry.flags & kEntryInlined) != 0;
  return (entry.kind == EntryKind::Line || isSite) && entry.line != 0 && entry.file.valid();
}
// Of the call that the line is in.
constexpr std::int32_t executionDepth(const Entry& entry) {
  const bool isCall = entry.kind == EntryKind::Call && entry.depth > INT32_MIN;
  return isCall ? entry.depth - 1 : entry.depth;
}

// True if an entry goes on with the line of the one that ran before it in the same call, after a call that
// the line made, or with such a call: it is of the same line, further on, and something lies between, if
// only a call without records.
bool goesOn(const Entry& before, EntryIndex beforeAt, const Entry& entry, EntryIndex at);
// True if `entry`, which is the one at `at`, is no execution of its line of its own, but goes on with one.
bool continuesLine(const ThreadTrace& thread, EntryIndex at, const Entry& entry);
// Where the execution of a line began that an entry is of; `at` itself for what runs none.
EntryIndex executionStart(const ThreadTrace& thread, EntryIndex at);

}  // namespace traceback::model
