// traceback export: a trace as a file that others can read.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <format>
#include <memory>

#include "app/traceback/command.h"
#include "app/traceback/output.h"
#include "app/traceback/output_file.h"
#include "app/traceback/say.h"
#include "app/traceback/source_text.h"
#include "app/traceback/trace_file.h"
#include "loader/core/core_file.h"
#include "model/export/trace_export.h"
#include "model/utf8.h"

namespace traceback::app {

namespace {

struct ExportCall {
  std::string snap;
  std::string format;
  std::string output;
  std::string thread;
  std::uint64_t first = 0;
  std::uint64_t last = UINT64_MAX;
  std::vector<std::string> sourcePaths;
  std::string core;
};

int exportCore(const ExportCall& call) {
  if (const int status = refuseToReplace(call.snap, call.core); status != kDone) return status;
  const auto process = loader::openRecordedProcess(call.snap);
  if (!process) return complain(process.error());
  OutputFile file(call.core, 0600);  // as snaps are: it holds the memory that they kept
  if (file.error() != 0) return cannotWrite(call.core, file.error());
  const auto written =
      loader::writeCore(*process, [&file](std::span<const std::byte> bytes) { return file.write(bytes); });
  if (file.error() != 0) return cannotWrite(call.core, file.error());
  if (!written) return complain({.message = written.error().message, .file = call.snap, .offset = {}});
  if (!file.keep()) return cannotWrite(call.core, file.error());
  complainAboutDamage(call.snap, process->report);
  const auto tellOf = [&call](std::uint64_t count, std::string_view what) {
    if (count != 0) tellLine("traceback: {}: {} {}", model::printable(call.snap), count, what);
  };
  tellOf(written->unknownPlaces,
         "threads stand in code whose map is missing: a debugger finds no place for them");
  tellOf(written->withoutStacks,
         "threads have no stack in the snap: a debugger shows their innermost frame alone");
  tellOf(written->damagedMemory, "parts of the memory are damaged, and left out");
  return kDone;
}

int runExport(const ExportCall& call) {
  if (!call.core.empty()) return exportCore(call);
  auto mappings = SourceText::parseMappings(call.sourcePaths);
  if (!mappings) return complainAboutCall("export: " + mappings.error());
  if (call.last < call.first) return complainAboutCall("export: --last is before --first");
  if (!call.output.empty())
    if (const int status = refuseToReplace(call.snap, call.output); status != kDone) return status;
  const auto loaded = openTrace(call.snap);
  if (!loaded) return complain(loaded.error());
  const model::Trace& trace = **loaded;
  const auto threads = threadsNamed(trace, call.snap, call.thread.empty() ? "all" : call.thread);
  if (!threads) return complain(threads.error());
  std::vector<model::ExportRange> ranges;
  model::EntryIndex most = 0;
  for (const auto thread : *threads) {
    model::ExportRange range = model::wholeThread(trace, thread);
    most = std::max(most, range.end);
    range.first = std::min(call.first, range.end);
    range.end = call.last < range.end ? call.last + 1 : range.end;
    ranges.push_back(range);
  }
  // Threads that do not get so far are left out, but some thread must.
  if (call.first != 0 && call.first >= most) {
    return complain(
        {.message = std::format("has no entry {}: there are {}, counted from 0", call.first, most),
         .file = call.snap,
         .offset = {}});
  }
  SourceText sources(std::move(*mappings));
  const auto format = *model::exportFormat(call.format);
  if (call.output.empty()) {
    // What could not be written is found at the end, as for all commands.
    model::exportTrace(trace, ranges, format, sources.lines(), putOut);
  } else {
    OutputFile file(call.output);
    if (file.error() != 0) return cannotWrite(call.output, file.error());
    const bool all = model::exportTrace(trace, ranges, format, sources.lines(),
                                        [&file](std::string_view text) { return file.write(text); });
    if (!all || !file.keep()) return cannotWrite(call.output, file.error());
  }
  complainAboutDamage(call.snap, trace.report);
  sources.complainAboutOthers(trace.summary.when);
  return kDone;
}

}  // namespace

void addExport(CLI::App& app, Action& chosen) {
  auto call = std::make_shared<ExportCall>();
  auto* command = app.add_subcommand("export", "Writes a trace as text, JSON, HTML or for Perfetto");
  command->add_option("SNAP", call->snap, "NAME.tbsnap")->required()->type_name("");
  command->add_option("--format", call->format, "text, json, html or perfetto")
      ->check(CLI::IsMember({"text", "json", "html", "perfetto"}));
  auto* core =
      command->add_option("--core", call->core, "Write a core file for debuggers instead")->type_name("OUT");
  command->add_option("-o,--output", call->output, "Where to write (default: standard output)")
      ->type_name("FILE");
  command->add_option("--thread", call->thread, "Only this thread, counted from 1 (default: all)")
      ->type_name("N");
  command->add_option("--first", call->first, "The first entry (default: 0)")->type_name("INDEX");
  command->add_option("--last", call->last, "The last entry (default: the thread's last)")
      ->type_name("INDEX");
  command
      ->add_option("--source-path", call->sourcePaths,
                   "Look for sources whose path begins with FROM under TO")
      ->type_name("FROM=TO");
  command->footer(
      "--core OUT is for gdb, together with the original program: gdb PROG OUT. It shows the frames, "
      "arguments and\n"
      "variables of the moment of the snap, as far as the snap kept the memory (run --memory).\n"
      "html is one page that needs nothing else. perfetto is the Trace Event Format, for ui.perfetto.dev:\n"
      "between two readings of the clock its times are made up, the order is not.\n"
      "A thread that is exported from its first entry on begins with what was before its trace (print "
      "--history).");
  for (CLI::Option* option : command->get_options())
    if (option->nonpositional() && option != core && option != command->get_help_ptr())
      option->excludes(core);
  command->callback([call, &chosen] {
    chosen = [call] {
      if (call->core.empty() && call->format.empty())
        return complainAboutCall("export: --format or --core is required");
      return runExport(*call);
    };
  });
}

}  // namespace traceback::app
