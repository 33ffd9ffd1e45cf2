// traceback print: a trace as text, or as JSON for scripts.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <print>

#include "app/traceback/command.h"
#include "app/traceback/output.h"
#include "app/traceback/source_text.h"
#include "app/traceback/trace_file.h"
#include "model/function_name.h"
#include "model/stepping.h"
#include "model/text_format.h"
#include "model/trace.h"
#include "model/utf8.h"

namespace traceback::app {

namespace {

using model::Entry;
using model::EntryIndex;
using model::EntryKind;
using model::ThreadTrace;
using model::Trace;

struct PrintCall {
  std::string snap;
  std::string thread;
  std::uint64_t last = 0;  // 0: all
  bool tree = false;
  std::string format = "text";
  std::vector<std::string> sourcePaths;
};

constexpr std::size_t kBatch = 4096;
constexpr int kPlaceWidth = 24;
constexpr int kFunctionWidth = 24;
constexpr std::int32_t kDeepestIndent = 60;

// What is printed of a thread: everything as JSON; as text, what ran, and in a tree also the calls.
bool isPrinted(const PrintCall& call, EntryKind kind) {
  return call.format == "json" || model::isSteppable(kind) || (call.tree && kind == EntryKind::Call);
}

// What --last counts: as JSON every entry; as text the lines, beside which other things may be told.
bool isCounted(const PrintCall& call, EntryKind kind) {
  return call.format == "json" || kind == EntryKind::Line;
}

// The entry from which on the last lines are printed.
EntryIndex firstToPrint(const PrintCall& call, const ThreadTrace& thread) {
  if (call.last == 0) return 0;
  std::uint64_t wanted = call.last;
  for (EntryIndex end = thread.entryCount(); end > 0;) {
    const EntryIndex begin = end - std::min<EntryIndex>(end, kBatch);
    const auto entries = thread.entries(begin, end - begin);
    for (EntryIndex i = end; i > begin; --i) {
      if (isCounted(call, entries[i - 1 - begin].kind) && --wanted == 0) return i - 1;
    }
    end = begin;
  }
  return 0;
}

std::string flagsText(std::uint16_t flags) {
  std::string out;
  const auto add = [&](std::uint16_t flag, const char* text) {
    if ((flags & flag) != 0) out += std::format("  <-- {}", text);
  };
  add(model::kEntryFault, "fault");
  // A fault cuts its line short.
  if ((flags & model::kEntryFault) == 0) add(model::kEntryPartial, "cut short");
  add(model::kEntryCatch, "caught here");
  return out;
}

class TextPrinter {
 public:
  TextPrinter(const Trace& trace, const PrintCall& call, SourceText& sources)
      : m_trace(trace), m_call(call), m_sources(sources) {}

  void print(const Entry& entry, std::int32_t outermost) {
    const std::string indent = m_call.tree ? indentOf(entry.depth - outermost) : std::string();
    if (entry.kind == EntryKind::Call) {
      // The callee is one deeper than the line that calls it.
      std::println("{:{}}{}{}()", "", kPlaceWidth + 2,
                   m_call.tree ? indentOf(entry.depth - outermost - 1) : "",
                   model::shortFunctionName(model::functionText(m_trace, entry.function)));
      return;
    }
    if (entry.kind != EntryKind::Line) {
      std::println("{:{}}{}-- {}{}", "", kPlaceWidth + 2, indent, model::entryText(m_trace, entry),
                   (entry.flags & model::kEntryFault) != 0 ? flagsText(entry.flags) : "");
      return;
    }
    const auto* file = m_trace.file(entry.file);
    const std::string source = file != nullptr ? m_sources.line(file->path, entry.line) : std::string();
    const std::string function = model::shortFunctionName(model::functionText(m_trace, entry.function));
    if (m_call.tree) {
      std::println("{:{}}  {}{}{}", model::placeText(m_trace, entry), kPlaceWidth, indent,
                   source.empty() ? function : source, flagsText(entry.flags));
    } else {
      std::println("{:{}}  {:{}}  {}{}", model::placeText(m_trace, entry), kPlaceWidth, function,
                   kFunctionWidth, source, flagsText(entry.flags));
    }
  }

 private:
  static std::string indentOf(std::int32_t depth) {
    return std::string(static_cast<std::size_t>(2 * std::clamp(depth, 0, kDeepestIndent)), ' ');
  }

  const Trace& m_trace;
  const PrintCall& m_call;
  SourceText& m_sources;
};

std::int32_t leastDepth(const ThreadTrace& thread, EntryIndex first) {
  std::int32_t least = INT32_MAX;
  const auto chunks = thread.chunks();
  for (std::size_t i = first < thread.entryCount() ? thread.chunkOf(first) : chunks.size(); i < chunks.size();
       ++i) {
    least = std::min(least, chunks[i].leastLineDepth);
  }
  return least == INT32_MAX ? 0 : least;
}

void printThread(const Trace& trace, model::ThreadIndex index, const PrintCall& call, SourceText& sources) {
  const ThreadTrace& thread = *trace.threads[index.value];
  const EntryIndex first = firstToPrint(call, thread);
  const bool json = call.format == "json";
  if (!json) {
    std::println("thread {} ({}, tid {}){}{}", model::threadNumber(index),
                 model::printable(thread.info().name), thread.info().tid,
                 thread.info().atFault ? ", at fault" : "", thread.info().ended ? ", ended" : "");
    if (thread.entryCount() == 0) std::println("  nothing was recorded");
  }
  const std::int32_t outermost = call.tree ? leastDepth(thread, first) : 0;
  TextPrinter printer(trace, call, sources);
  for (EntryIndex begin = first; begin < thread.entryCount(); begin += kBatch) {
    const auto entries = thread.entries(begin, std::min<EntryIndex>(kBatch, thread.entryCount() - begin));
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (!isPrinted(call, entries[i].kind)) continue;
      if (json) {
        std::println("{}", model::entryJson(trace, index, begin + i, entries[i]));
      } else {
        printer.print(entries[i], outermost);
      }
    }
  }
}

// The threads that --thread names: by default the one at fault, or all if none is.
model::Result<std::vector<model::ThreadIndex>> threadsToPrint(const Trace& trace, const PrintCall& call) {
  std::vector<model::ThreadIndex> chosen;
  const bool byFault = call.thread.empty() && std::ranges::any_of(trace.threads, [](const auto& thread) {
                         return thread->info().atFault;
                       });
  for (std::uint32_t i = 0; i < trace.threads.size(); ++i) {
    const model::ThreadIndex index{i};
    if (!byFault && (call.thread.empty() || call.thread == "all" ||
                     call.thread == std::to_string(model::threadNumber(index)))) {
      chosen.push_back(index);
    }
    if (byFault && trace.threads[i]->info().atFault) chosen.push_back(index);
  }
  if (chosen.empty() && !trace.threads.empty()) {
    return model::fail(
        std::format("has no thread {}: they count from 1 to {}", call.thread, trace.threads.size()),
        call.snap);
  }
  return chosen;
}

int runPrint(const PrintCall& call) {
  std::vector<SourceText::Mapping> mappings;
  for (const auto& text : call.sourcePaths) {
    auto mapping = SourceText::parseMapping(text);
    if (!mapping) return complainAboutCall("print: --source-path takes FROM=TO, not " + text);
    mappings.push_back(std::move(*mapping));
  }
  const auto loaded = openTrace(call.snap);
  if (!loaded) return complain(loaded.error());
  const Trace& trace = **loaded;
  const auto threads = threadsToPrint(trace, call);
  if (!threads) return complain(threads.error());

  if (call.format == "text") {
    std::println("{} (pid {}): {}", model::printable(trace.summary.program), trace.summary.pid,
                 reasonText(trace.summary));
  }
  SourceText sources(std::move(mappings));
  for (const auto index : *threads) printThread(trace, index, call, sources);
  complainAboutDamage(call.snap, trace.report);
  for (const auto& path : sources.changedAfter(trace.summary.when)) {
    std::println(stderr, "traceback: {}: changed after the trace was made: its text may not be what ran",
                 model::printable(path));
  }
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
      ->check(CLI::Range(std::uint64_t{1}, UINT64_MAX))
      ->type_name("N");
  command->add_flag("--tree", call->tree, "Indent by calls");
  command->add_option("--format", call->format, "text, or json: one object a line (default: text)")
      ->check(CLI::IsMember({"text", "json"}));
  command
      ->add_option("--source-path", call->sourcePaths,
                   "Look for sources whose path begins with FROM under TO")
      ->type_name("FROM=TO");
  command->footer(
      "Text gives place, function and source line. JSON gives every entry, calls and returns too.");
  command->callback([call, &chosen] { chosen = [call] { return runPrint(*call); }; });
}

}  // namespace traceback::app
