// Questions in words, as a person types them (after the query commands of "An Information Query Facility for
// Trace-Based Debugging", 1994, section 6).
//
//   goto FROM DIRECTION EVENT [COUNT] [where CONDITION]
//       FROM       current | first | last
//       DIRECTION  forward | backward
//       EVENT      func_enter | func_exit | block_entry | exception | signal
//       COUNT      the how manieth, from 1 (the default)
//   next EVENT [COUNT] [where CONDITION]         goto current forward ...
//   previous EVENT [COUNT] [where CONDITION]     goto current backward ...
//   calls(FUNCTION) [where CONDITION]            every call of a function
//   lines(FILE:N) [where CONDITION]              every execution of a line
//   exceptions() [where CONDITION]               every exception that was thrown, by any thread
//   between(PLACE, PLACE)                        from each execution of the first to the next of the second
//   never(PLACE)                                 whether a line or function is in the trace at all
//
//   CONDITION  stack=<*,a,b> | src=<foo.c,7> | src=<foo.c> | func=NAME | thrown=TYPE | said=TEXT,
//              joined by `and`, `or`, `not`, ( )
//   PLACE      FILE:N, FILE:N-M or FUNCTION
//
// A stack is written from the outermost call to the innermost; `*` stands for any calls, none too. In names
// of functions `*` stands for any text; a name without arguments matches whatever they are, and without its
// scope any scope. FILE is the end of a path, at a `/`. Words in "quotes" may hold anything; a line may
// follow them ("FILE":N) or end what they hold ("FILE:N"), which is that line unless a function is called so.
// A block_entry is any line that ran, or without line information any block. An exception is where one was
// thrown, and each place that caught it or cleaned up after it. `thrown` and `said` are of the former: what
// its type is, named as a function is, and what it said, somewhere in which the text stands, in small letters
// or capitals, `*` being any text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace traceback::model {

struct SourcePattern {
  std::string file;
  std::uint32_t first = 0, last = UINT32_MAX;  // lines
  std::string function = {};  // of a quoted place: if one is called so, that one is meant
  friend bool operator==(const SourcePattern&, const SourcePattern&) = default;
};

struct Condition {
  enum class Kind : std::uint8_t { And, Or, Not, Stack, Source, Function, Thrown, Said };
  Kind kind = Kind::And;
  std::vector<Condition> parts;  // of And, Or, Not
  std::vector<std::string> frames;  // of Stack; the one name of Function and Thrown, the text of Said
  SourcePattern source;
};

using Place = std::variant<SourcePattern, std::string>;  // or a function

enum class EventKind : std::uint8_t { Enter, Exit, Block, Exception, Signal };

struct Goto {
  enum class From : std::uint8_t { Current, First, Last };
  From from = From::Current;
  bool forward = false;
  EventKind event = EventKind::Block;
  std::uint64_t count = 1;
  std::optional<Condition> where;
};
struct Occurrences {  // calls() and lines()
  Place place;
  std::optional<Condition> where;
};
struct Throws {  // exceptions()
  std::optional<Condition> where;
};
struct Between {
  Place from, to;
};
struct Never {
  Place place;
};
using Question = std::variant<Goto, Occurrences, Throws, Between, Never>;

struct QuestionProblem {
  std::size_t offset = 0;  // in the text
  std::string message;  // "COUNT must be a number from 1"
};
std::expected<Question, QuestionProblem> parseQuestion(std::string_view text);

// Whether a text sets out to be a question, so that a search box knows what to do with it.
bool looksLikeQuestion(std::string_view text);

}  // namespace traceback::model
