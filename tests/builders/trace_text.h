// Traces for tests, from text that reads like what happened:
//
//     thread 7 main
//     call main main.c
//       10
//       11
//       call parse parse.c
//         20 x3
//         21 catch
//       12
//       call visit parse.c inlined
//         30 fault
//       signal 11
//     thread 8 worker
//     gap overwritten
//     in work worker.c
//       5
//
// What is further indented happened inside the call above it. Going back out makes the Return. Calls that are
// open where a thread's text ends have not returned; `end` there, less indented, closes them.
//
//   thread TID NAME   the following is this thread's; without it there is one, tid 1, called main
//   call FUNC [FILE]  control enters FUNC; FILE as in the enclosing call if left out, relative to /src
//   call FUNC [FILE] from N ...  an inlined one: line N of the call around it makes it
//   in FUNC [FILE]    inside FUNC, whose Call was not seen
//   N [xCOUNT]        line N ran (COUNT times); N=0: a block without line information
//   signal N | exception [TYPE] | gap [overwritten|damaged|missing-map|path-unknown] | sync [N]
//   time TICKS        the time of what follows
//   began TICKS       nothing of the thread ran before
//   until TICKS       nothing of the thread ran after; `ended TICKS`: and it had ended by then
//   end               nothing; only its indentation counts
//
// Words after these set flags: fault inlined untraced handler tail partial interrupted catch across
// resumed. On a
// `call` line, `interrupted` is of its Return; `inlined` and `handler` also of the lines directly in it and
// of its Return.
// `#` begins a comment.
//
// All is in module "prog". Function k (from 0, in order of appearance) starts at 0x1000 * (k + 1); a line N
// in it is the 4 bytes from there + 4 * N.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "model/trace.h"

namespace traceback::tests {

// Entries in memory, served in chunks of a given size.
class MemoryEntrySource : public model::EntrySource {
 public:
  MemoryEntrySource(std::vector<model::Entry> entries, std::size_t chunkSize);
  std::size_t chunkCount() const override;
  model::ExpandedChunk expand(std::size_t chunk) const override;
  std::vector<model::ChunkSummary> summaries() const;

 private:
  std::vector<model::Entry> m_entries;
  std::size_t m_chunkSize;
};

std::unique_ptr<const model::ThreadTrace> threadOf(std::vector<model::Entry> entries, std::size_t chunkSize,
                                                   model::ThreadTrace::Info info = {},
                                                   std::optional<model::Ticks> began = {},
                                                   std::optional<model::Ticks> until = {});

// Text that cannot be read ends the test program with a message that says which line is wrong.
std::shared_ptr<model::Trace> traceOf(std::string_view text, std::size_t chunkSize = 4);

// Where a Line entry with this line number is: the nth from the oldest, counted from 1. The thread's
// entryCount() if there is none.
model::EntryIndex lineAt(const model::ThreadTrace& thread, std::uint32_t line, int nth = 1);
// Where a Call entry of the named function is.
model::EntryIndex callAt(const model::Trace& trace, const model::ThreadTrace& thread,
                         std::string_view function, int nth = 1);

}  // namespace traceback::tests
