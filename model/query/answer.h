// Answers a question from a trace.
//
// Read-only and callable from any thread; long ones look at the stop token every few thousand entries, and
// each time that they ask a condition.
#pragma once

#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "model/entry.h"
#include "model/ids.h"
#include "model/query/question.h"

namespace traceback::model {

struct Trace;

struct AnswerRow {
  ThreadIndex thread;
  EntryIndex match = 0;                // the entry that answers
  std::optional<EntryIndex> position;  // where a cursor stands for it; nothing if nowhere
  std::optional<EntryIndex> end;       // of between(): the entry that ends the stretch
  friend bool operator==(const AnswerRow&, const AnswerRow&) = default;
};

struct Answer {
  std::vector<AnswerRow> rows;  // by thread, then oldest first; of goto at most one
  bool more = false;            // there are, or may be, further rows
  bool cancelled = false;
  std::string note;  // what the rows cannot say: "never, in what the trace holds", and where it has doubts
};

// Where one is when one asks: `goto` moves in that thread, from there. Without an entry: from its end.
struct Standpoint {
  ThreadIndex thread;
  std::optional<EntryIndex> at;
};

Answer answer(const Trace& trace, const Standpoint& from, const Question& question, std::size_t limit,
              std::stop_token stop = {});

}  // namespace traceback::model
