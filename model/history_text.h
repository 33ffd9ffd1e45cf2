// A thread's history in words, for the command line, and as the JSON objects that scripts may rely on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/history.h"
#include "model/trace.h"

namespace traceback::model {

// The last moment that any thread's trace tells of; nothing if none does.
std::optional<Ticks> endOfTrace(const Trace& trace);
// From one moment to a later one; nothing if the clock tells no time.
std::optional<Nanoseconds> timeBetween(const Trace& trace, Ticks from, Ticks to);
// "1.5 s", "12 ms", "3 min 20 s"
std::string spanText(Nanoseconds span);

// "loop", "entry"; empty for other code.
std::string_view kindName(HistoryPlace::Kind kind);
// "parser.c:120", or "prog+0x1234" without a line.
std::string placeText(const Trace& trace, const HistoryFunction& function, const HistoryPlace& place);

// Of a stretch, without ends of line and without control characters: when it was and how much of it was read,
//
//   4.1 s to 1.2 s before the end: 512 records read, in 1 of 38 parts
//
// and what was found, a line for each of the most frequent functions, indented:
//
//     61 %  phase_two  phases.c:31 loop 214, phases.c:28 entry 12
std::vector<std::string> historyLines(const Trace& trace, const HistoryStretch& stretch,
                                      std::optional<Ticks> end);

// One object on one line. These keys are always there, with null for what is not known: thread (counted from
// 1), index (of the stretch, from 0, the oldest), kind ("history"), begin and end (nanoseconds since the Unix
// epoch), parts, looked, words, sampled, unnamed, and functions: objects with module, function (demangled),
// mangled, times, and places: objects with kind ("entry", "loop" or "code"), file, line, address, times.
// Readers must ignore keys that they do not know.
std::string historyJson(const Trace& trace, ThreadIndex thread, std::size_t index,
                        const HistoryStretch& stretch);

}  // namespace traceback::model
