// The six steps. A cursor stands on a steppable entry: a Line, Exception, Signal or Gap. (Call, Return and
// Sync entries carry structure and are never stood on.) All steps look at depths through the index:
//
//   step       the next steppable entry                 back       the previous one
//   over       the next one no deeper than here         backOver   the previous one no deeper than here
//   out        the next one less deep than here         backOut    the previous one less deep than here:
//                                                                   the line that called this function
//
// Nothing means that the trace ends before such an entry.
#pragma once

#include <cstdint>
#include <optional>

#include "model/entry.h"
#include "model/ids.h"

namespace traceback::model {

class ThreadTrace;

enum class Step : std::uint8_t { Into, Over, Out, Back, BackOver, BackOut };

constexpr bool isSteppable(EntryKind kind) {
  return kind == EntryKind::Line || kind == EntryKind::Exception || kind == EntryKind::Signal ||
         kind == EntryKind::Gap;
}

std::optional<EntryIndex> step(const ThreadTrace& thread, EntryIndex from, Step how);

// Where a cursor stands for an entry: at itself, for a Call at the first in it, for a Return at the last.
std::optional<EntryIndex> standingPlace(const ThreadTrace& thread, EntryIndex index, EntryKind kind);

// Where the thread stood in the end: at its fault, else at its last steppable entry.
std::optional<EntryIndex> finalPosition(const ThreadTrace& thread);
// Where the thread was at the process's fault: its own, whatever a handler of that did then, or another's.
// Nothing if there was none, or that is not known.
std::optional<EntryIndex> faultPosition(const ThreadTrace& thread);
// Where a viewer opens the thread: there, else at its end. Where it was not an instruction that faulted, but
// what aborted or threw is in a library without lines, at the innermost call that has some.
std::optional<EntryIndex> initialPosition(const ThreadTrace& thread);

}  // namespace traceback::model
