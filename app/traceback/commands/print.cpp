// traceback print: a trace as text, or as JSON for scripts.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <format>
#include <utility>

#include "app/traceback/command.h"
#include "app/traceback/output.h"
#include "app/traceback/say.h"
#include "app/traceback/source_text.h"
#include "app/traceback/trace_file.h"
#include "app/traceback/values_output.h"
#include "loader/core/recorded_process.h"
#include "loader/values/read_values.h"
#include "model/export/text_rows.h"
#include "model/history_text.h"
#include "model/stepping.h"
#include "model/text_format.h"
#include "model/trace.h"
#include "model/utf8.h"

namespace traceback::app {

namespace {

using model::EntryIndex;
using model::EntryKind;
using model::ThreadTrace;
using model::Trace;

struct PrintCall {
  std::string snap;
  std::string thread;
  std::uint64_t last = 0;  // 0: all
  bool toFault = false;
  bool knownLines = false;
  bool tree = false;
  std::string format = "text";
  std::vector<std::string> sourcePaths;
  bool values = false;
  bool history = false;
  std::optional<std::uint32_t> frame;
  std::vector<std::string> globals;
};

constexpr std::size_t kBatch = 4096;

// Whether --lines leaves it out. Not what a fault was met at.
bool isLeftOut(const PrintCall& call, const model::Entry& entry) {
  return call.knownLines && entry.kind == EntryKind::Line && entry.line == 0 &&
         (entry.flags & (model::kEntryFault | model::kEntryAtOtherFault)) == 0;
}

// What --last counts: as JSON every entry; as text the lines, beside which other things may be told.
bool isCounted(const PrintCall& call, const model::Entry& entry) {
  return (call.format == "json" || entry.kind == EntryKind::Line) && !isLeftOut(call, entry);
}

// Behind the entries to print. To the fault: with the signal that it was told by.
EntryIndex endToPrint(const PrintCall& call, const ThreadTrace& thread) {
  const EntryIndex all = thread.entryCount();
  const auto fault = model::faultPosition(thread);
  if (!call.toFault || !fault) return all;
  const EntryIndex end = *fault + 1;
  return end < all && thread.entry(end).kind == EntryKind::Signal ? end + 1 : end;
}

// The entry from which on the last lines before `end` are printed.
EntryIndex firstToPrint(const PrintCall& call, const ThreadTrace& thread, EntryIndex end) {
  if (call.last == 0) return 0;
  std::uint64_t wanted = call.last;
  while (end > 0) {
    const EntryIndex begin = end - std::min<EntryIndex>(end, kBatch);
    const auto entries = thread.entries(begin, end - begin);
    for (EntryIndex i = end; i > begin; --i) {
      if (isCounted(call, entries[i - 1 - begin]) && --wanted == 0) return i - 1;
    }
    end = begin;
  }
  return 0;
}

void printThread(const Trace& trace, model::ThreadIndex index, const PrintCall& call,
                 const model::SourceLine& sources) {
  const ThreadTrace& thread = *trace.threads[index.value];
  const EntryIndex last = endToPrint(call, thread);
  const EntryIndex first = firstToPrint(call, thread, last);
  const bool json = call.format == "json";
  if (!json) {
    sayLine("{}", model::threadHeading(trace, index));
    if (thread.entryCount() == 0) sayLine("  nothing was recorded");
  }
  const std::int32_t outermost = call.tree ? model::outermostDepth(thread, first) : 0;
  std::vector<std::string> calls;  // in which nothing was printed yet
  const model::TextRows rows(trace, sources,
                             call.tree ? model::TextRows::Shape::Tree : model::TextRows::Shape::Flat);
  for (EntryIndex begin = first; begin < last; begin += kBatch) {
    const auto entries = thread.entries(begin, std::min<EntryIndex>(kBatch, last - begin));
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const model::Entry& entry = entries[i];
      if (isLeftOut(call, entry)) continue;
      if (json) {
        sayLine("{}", model::entryJson(trace, index, begin + i, entry));
      } else if (call.knownLines && entry.kind == EntryKind::Return && !calls.empty()) {
        calls.pop_back();
      } else if (call.knownLines && entry.kind == EntryKind::Call && rows.shows(entry.kind)) {
        calls.push_back(rows.row(entry, outermost));
      } else if (rows.shows(entry.kind)) {
        for (const std::string& each : std::exchange(calls, {})) sayLine("{}", each);
        sayLine("{}", rows.row(entry, outermost));
      }
    }
  }
  if (!json && last < thread.entryCount())
    sayLine("  and {} entries after the fault", thread.entryCount() - last);
}

// What was before the trace.
void printHistory(const Trace& trace, model::ThreadIndex index, const PrintCall& call) {
  const auto& history = trace.threads[index.value]->info().history;
  const bool json = call.format == "json";
  if (!json) {
    sayLine("{}", model::threadHeading(trace, index));
    if (!history) sayLine("  nothing is known of the time before its trace");
  }
  if (!history) return;
  const auto end = model::endOfTrace(trace);
  for (std::size_t i = 0; i < history->stretches.size(); ++i) {
    const auto& stretch = history->stretches[i];
    if (json) {
      sayLine("{}", model::historyJson(trace, index, i, stretch));
    } else {
      for (const std::string& line : model::historyLines(trace, stretch, end)) sayLine("{}", line);
    }
  }
}

// Of the end alone: what variables held before, no trace knows.
int printValues(const PrintCall& call) {
  const auto loaded = openTrace(call.snap);
  if (!loaded) return complain(loaded.error());
  const Trace& trace = **loaded;
  const auto threads = threadsNamed(trace, call.snap, call.thread);
  if (!threads) return complain(threads.error());
  const auto process = loader::openRecordedProcess(call.snap);
  if (!process) return complain(process.error());
  loader::ValuesRequest request;
  request.frame = call.frame;
  request.globals = call.globals;
  if (threads->size() == 1) request.tid = trace.threads[threads->front().value]->info().tid;
  const auto values = loader::readValues(*process, request);
  if (!values) return complain({.message = values.error().message, .file = call.snap, .offset = {}});

  if (call.frame && !values->threads.empty() &&
      std::ranges::all_of(values->threads, [](const auto& thread) { return thread.frames.empty(); })) {
    const auto& notes = values->threads.front().notes;
    return complain({.message = notes.empty() ? std::format("has no frame {}", *call.frame) : notes.back(),
                     .file = call.snap,
                     .offset = {}});
  }
  const bool json = call.format == "json";
  for (const auto index : *threads) {
    const auto& info = trace.threads[index.value]->info();
    const auto found = std::ranges::find(values->threads, info.tid, &model::ThreadValues::tid);
    if (found == values->threads.end()) continue;  // it had ended
    if (json)
      printValuesJson(*found, model::threadNumber(index));
    else
      printValuesText(*found, model::threadHeading(trace, index), call.frame.has_value());
  }
  if (json) {
    printGlobalsJson(values->globals);
    for (const auto& note : values->notes) printNoteJson(note);
  } else {
    printGlobalsText(values->globals);
    for (const auto& note : values->notes)
      tellLine("traceback: {}: {}", model::printable(call.snap), model::printable(note));
  }
  complainAboutDamage(call.snap, process->report);
  return kDone;
}

int runPrint(const PrintCall& call) {
  if (call.values) return printValues(call);
  auto mappings = SourceText::parseMappings(call.sourcePaths);
  if (!mappings) return complainAboutCall("print: " + mappings.error());
  const auto loaded = openTrace(call.snap);
  if (!loaded) return complain(loaded.error());
  const Trace& trace = **loaded;
  const auto threads = threadsNamed(trace, call.snap, call.thread);
  if (!threads) return complain(threads.error());

  if (call.format == "text") {
    sayLine("{} (pid {}): {}", model::printable(trace.summary.program), trace.summary.pid,
            reasonText(trace.summary));
    for (const std::string& line : groupLines(trace.summary, call.snap))
      sayLine("{}", model::printable(line));
  }
  SourceText sources(std::move(*mappings));
  for (const auto index : *threads) {
    if (call.history)
      printHistory(trace, index, call);
    else
      printThread(trace, index, call, sources.lines());
  }
  complainAboutDamage(call.snap, trace.report);
  sources.complainAboutOthers(trace.summary.when);
  return kDone;
}

}  // namespace

void addPrint(CLI::App& app, Action& chosen) {
  auto call = std::make_shared<PrintCall>();
  auto* command = app.add_subcommand("print", "Prints a trace, oldest line first");
  command->add_option("SNAP", call->snap, "NAME.tbsnap")->required()->type_name("");
  command
      ->add_option("--thread", call->thread,
                   "Only this thread, counted from 1; or all (default: the one at fault)")
      ->type_name("N");
  command->add_option("--last", call->last, "Only the last N lines of each thread")
      ->check(CLI::Range(std::uint64_t{1}, UINT64_MAX).description(""))
      ->type_name("N");
  command->add_flag(
      "--to-fault", call->toFault,
      "Without what threads did after the fault: a handler of it, and others until they stopped");
  command->add_flag(
      "--lines", call->knownLines,
      "Only code whose source lines are known: without libraries that hold no debug information");
  command->add_flag("--tree", call->tree, "Indent by calls");
  command->add_option("--format", call->format, "text, or json: one object a line (default: text)")
      ->check(CLI::IsMember({"text", "json"}));
  addSourcePathOption(*command, call->sourcePaths);
  auto* history =
      command->add_flag("--history", call->history,
                        "Print what is known of the time before the trace instead: a summary of samples");
  auto* values = command
                     ->add_flag("--values", call->values,
                                "Print arguments, variables and registers at the end instead of the trace")
                     ->excludes(history);
  command->add_option("--frame", call->frame, "With --values: only this frame; 0 is the innermost")
      ->needs(values)
      ->type_name("N");
  command->add_option("--global", call->globals, "With --values: this variable, too; may be repeated")
      ->needs(values)
      ->allow_extra_args(false)
      ->type_name("NAME");
  command->footer(
      "--values needs gdb, the program that ran, and a snap that keeps memory (run --memory).\n"
      "Text gives place, function and source line. JSON gives every entry, calls and returns too.");
  command->callback([call, &chosen] { chosen = [call] { return runPrint(*call); }; });
}

}  // namespace traceback::app
