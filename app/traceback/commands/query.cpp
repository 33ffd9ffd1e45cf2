// traceback query: asks a trace, in the words of model/query/question.h.
#include <CLI/CLI.hpp>
#include <format>

#include "app/traceback/command.h"
#include "app/traceback/output.h"
#include "app/traceback/say.h"
#include "app/traceback/trace_file.h"
#include "model/query/answer.h"
#include "model/text_format.h"
#include "model/utf8.h"

namespace traceback::app {

namespace {

using model::AnswerRow;
using model::Trace;

struct QueryCall {
  std::string snap, question;
  std::uint32_t thread = 1;
  std::optional<std::uint64_t> at;
  std::size_t limit = 1000;
  std::string format = "text";
};

void printText(const Trace& trace, const AnswerRow& row) {
  const auto& thread = *trace.threads[row.thread.value];
  const auto text = [&](model::EntryIndex index) {
    return std::format("#{:<9}  {}", index, model::entryText(trace, thread.entry(index)));
  };
  std::string line = std::format("thread {:<3}  {}", model::threadNumber(row.thread), text(row.match));
  if (row.position && *row.position != row.match) {
    const auto place = model::placeText(trace, thread.entry(*row.position));
    if (!place.empty()) line += "  at " + place;
  }
  if (row.end) line += "  to  " + text(*row.end);
  sayLine("{}", line);
}

// The object of the entry, with what only an answer has behind it.
void printJson(const Trace& trace, const AnswerRow& row) {
  const auto& thread = *trace.threads[row.thread.value];
  std::string object = model::entryJson(trace, row.thread, row.match, thread.entry(row.match));
  object.pop_back();
  object += std::format(",\"position\":{}", row.position ? std::to_string(*row.position) : "null");
  if (row.end) object += std::format(",\"end\":{}", *row.end);
  sayLine("{}}}", object);
}

int runQuery(const QueryCall& call) {
  const auto question = model::parseQuestion(call.question);
  if (!question) {
    return complainAboutCall(std::format("query: at character {} of \"{}\": {}", question.error().offset + 1,
                                         model::printable(call.question), question.error().message));
  }
  const auto loaded = openTrace(call.snap);
  if (!loaded) return complain(loaded.error());
  const Trace& trace = **loaded;
  if (call.thread == 0 || call.thread > trace.threads.size()) {
    return complain({.message = std::format("has no thread {}: they count from 1 to {}", call.thread,
                                            trace.threads.size()),
                     .file = call.snap,
                     .offset = {}});
  }
  const model::Standpoint from{model::ThreadIndex{call.thread - 1}, call.at};
  const auto answer = model::answer(trace, from, *question, call.limit);
  for (const AnswerRow& row : answer.rows) {
    if (call.format == "json") {
      printJson(trace, row);
    } else {
      printText(trace, row);
    }
  }
  if (!answer.note.empty() && call.format == "text") sayLine("{}", answer.note);
  if (answer.more) {
    tellLine("traceback: only the first {} are printed: --limit N prints more", answer.rows.size());
  }
  complainAboutDamage(call.snap, trace.report);
  return answer.rows.empty() ? kBadInput : kDone;
}

}  // namespace

void addQuery(CLI::App& app, Action& chosen) {
  auto call = std::make_shared<QueryCall>();
  auto* command = app.add_subcommand("query", "Asks a trace when something ran, and prints where");
  command->add_option("SNAP", call->snap, "NAME.tbsnap")->required()->type_name("");
  command->add_option("QUESTION", call->question, "One argument, in the words below")
      ->required()
      ->type_name("");
  command->add_option("--thread", call->thread, "The thread that goto moves in (default: 1)")->type_name("N");
  command->add_option("--at", call->at, "The entry that `current` means (default: the end)")
      ->type_name("INDEX");
  command->add_option("--limit", call->limit, "At most so many rows (default: 1000)")
      ->check(CLI::Range(std::size_t{1}, std::size_t{100'000'000}).description(""))
      ->type_name("N");
  command->add_option("--format", call->format, "text, or json: one object a line (default: text)")
      ->check(CLI::IsMember({"text", "json"}));
  command->footer(
      "goto current|first|last forward|backward EVENT [COUNT] [where CONDITION]\n"
      "next EVENT [COUNT] [where CONDITION]      previous EVENT [COUNT] [where CONDITION]\n"
      "calls(FUNCTION) [where CONDITION]         lines(FILE:N) [where CONDITION]\n"
      "exceptions() [where CONDITION]            between(PLACE, PLACE)\n"
      "never(PLACE)\n"
      "\n"
      "EVENT      func_enter, func_exit, block_entry, exception or signal\n"
      "PLACE      FILE:N, FILE:N-M or the name of a function, in \"quotes\" if it holds blanks\n"
      "CONDITION  stack=<*,outer,inner>  src=<foo.c,7>  func=NAME, and of exceptions thrown=TYPE and "
      "said=TEXT,\n"
      "           with and, or, not and ( )\n"
      "\n"
      "What ran around an answer #1234: traceback export SNAP --format text --thread 1 --first 1200 --last "
      "1250\n"
      "\n"
      "Exit status: 0 if there is an answer, 1 if there is none or the snap cannot be read, 2 if the "
      "question\n"
      "cannot be.");
  command->callback([call, &chosen] { chosen = [call] { return runQuery(*call); }; });
}

}  // namespace traceback::app
