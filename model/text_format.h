// How entries read, for the command line and the viewer alike: as a line of text, and as the JSON object that
// scripts may rely on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/entry.h"
#include "model/ids.h"
#include "model/trace.h"

namespace traceback::model {

// As users count threads: from 1, in the order of Trace::threads.
constexpr std::uint32_t threadNumber(ThreadIndex thread) { return thread.value + 1; }

std::string_view kindName(EntryKind kind);  // "line", as in JSON
// Why it was aborted: "int was thrown and not caught", or what the C library said; empty if neither is known.
std::string abortText(const Trace::Summary& summary);
std::string signalName(std::uint32_t signal);  // "SIGSEGV"; "signal 77" if it has no name
std::string_view gapText(std::uint32_t cause);  // why records are missing, as the end of "gap: "
std::string_view syncText(std::uint32_t cause);  // what a Sync entry tells

// "parser.c:120", or "prog+0x1234" without a line; empty without a module.
std::string placeText(const Trace& trace, const Entry& entry);
// Demangled; "0x1234" if nothing names it, "?" if there is no function.
std::string functionText(const Trace& trace, FunctionId function);

// One line, without an end of line and without control characters, and not indented:
//
//   Line       parser.c:120  visit            then in brackets what is special: [fault, cut short]
//   Call       call visit  parser.c:12        of an inlined one, where it was called: [inlined]
//   Return     return from visit              [unwound]
//   Exception  C++ exception std::out_of_range: what it said  parser.c:120
//   Signal     SIGSEGV  parser.c:120
//   Gap        gap: older records were overwritten
//   Sync       sync
std::string entryText(const Trace& trace, const Entry& entry);

// One object on one line, without an end of line. These keys are always there and in this order, with null
// for what is not known: thread (threadNumber), index, kind, module (its name), function (demangled),
// mangled, file, line, depth, address ("0x…", link-time, in the original file), time (nanoseconds since the
// Unix epoch). After them, only where they apply: "signal":"SIGSEGV", "cause":"overwritten" of a gap,
// "type":"std::out_of_range" of an exception (null: not known) and "message", what it said,
// "first_throw":{"thread":2,"index":17} of one that was thrown again, "flags":["fault","inlined"]. Readers
// must ignore keys that they do not know.
std::string entryJson(const Trace& trace, ThreadIndex thread, EntryIndex index, const Entry& entry);

}  // namespace traceback::model
