// traceback instrument: rewrites programs and libraries so that they record.
#include "instrument/instrument.h"

#include <CLI/CLI.hpp>
#include <print>

#include "app/traceback/command.h"
#include "app/traceback/output.h"
#include "model/utf8.h"

namespace traceback::app {

namespace fs = std::filesystem;

namespace {

struct InstrumentCall {
  std::vector<std::string> files;
  std::string output;
  std::string outputFolder;
  std::string report;
  instrument::Options options;
};

std::string reportAsJson(const instrument::Report& report) {
  std::string skipped;
  for (const auto& [reason, count] : report.skipped) {
    skipped += std::format("{}{}:{}", skipped.empty() ? "" : ",", model::jsonString(reason), count);
  }
  return std::format(
      R"({{"file":{},"output":{},"functions":{},"instrumented":{},"text_bytes":{},"new_text_bytes":{},"skipped":{{{}}}}})",
      model::jsonString(report.file), model::jsonString(report.output), report.functions, report.instrumented,
      report.textBytes, report.newTextBytes, skipped);
}

void printReport(const instrument::Report& report) {
  std::println("{}: {} of {} functions instrumented, written to {} ({} of code became {})",
               model::printable(report.file), report.instrumented, report.functions,
               model::printable(report.output), humanSize(report.textBytes), humanSize(report.newTextBytes));
  for (const auto& [reason, count] : report.skipped) std::println("  left alone: {:6}  {}", count, reason);
}

// Writing over the only copy of a program, or over its own input, is never meant.
model::Result<fs::path> outputFor(const InstrumentCall& call, const fs::path& input) {
  fs::path output =
      call.outputFolder.empty() ? fs::path(call.output) : fs::path(call.outputFolder) / input.filename();
  std::error_code ignored;
  if (fs::equivalent(input, output, ignored)) {
    return model::fail("would be overwritten by its instrumented form: name another output", input.string());
  }
  return output;
}

int runInstrument(const InstrumentCall& call) {
  if (call.output.empty() == call.outputFolder.empty()) {
    return complainAboutCall(
        "instrument: say where to write: -o OUT for one file, --output-dir DIR for any number");
  }
  if (!call.output.empty() && call.files.size() > 1) {
    return complainAboutCall("instrument: -o OUT takes one file; use --output-dir DIR for several");
  }
  if (!call.outputFolder.empty()) {
    std::error_code error;
    fs::create_directories(call.outputFolder, error);
    if (error)
      return complain({.message = "cannot make this folder: " + error.message(),
                       .file = call.outputFolder,
                       .offset = {}});
  }
  int status = kDone;
  for (const fs::path input : call.files) {
    const auto output = outputFor(call, input);
    if (!output) {
      status = complain(output.error());
      continue;
    }
    ProgressLine progress(input.string());
    const auto report =
        instrument::instrumentFile(input, *output, call.options, [&](double part) { progress.show(part); });
    if (!report) {
      status = complain(report.error());
    } else if (call.report == "json") {
      std::println("{}", reportAsJson(*report));
    } else {
      printReport(*report);
    }
  }
  return status;
}

}  // namespace

void addInstrument(CLI::App& app, Action& chosen) {
  auto call = std::make_shared<InstrumentCall>();
  auto* command =
      app.add_subcommand("instrument", "Rewrites programs and shared libraries so that they record");
  command->add_option("FILE", call->files, "x86-64 ELF programs or shared libraries")
      ->required()
      ->type_name("");
  command->add_option("-o,--output", call->output, "Where to write the instrumented file")->type_name("OUT");
  command
      ->add_option("--output-dir", call->outputFolder,
                   "Folder to write into, under the same names; made if missing")
      ->type_name("DIR");
  command->add_option("--report", call->report, "json: one object a file on standard output")
      ->check(CLI::IsMember({"text", "json"}));
  command->add_flag("--null", call->options.nullMode,
                    "Copy the code but add no probes: shows what copying alone costs");
  command
      ->add_option("--only,--only-functions", call->options.only,
                   "Instrument only these functions: NAME (a symbol, * and ? for any), 0xADDRESS, NUMBER or\n"
                   "FROM-TO by rising address, or @FILE that lists such")
      ->delimiter(',')
      ->type_name("FUNCTION");
  command
      ->add_option("--exclude,--skip-functions", call->options.exclude,
                   "Leave these functions alone, named as for --only")
      ->delimiter(',')
      ->type_name("FUNCTION");
  command->add_flag("--poison", call->options.poison, "Fill original code that has copies with breakpoints")
      ->group("");  // for tests
  command->footer(
      "The input is never changed. What cannot be rewritten safely is left alone and counted, by reason.");
  command->callback([call, &chosen] { chosen = [call] { return runInstrument(*call); }; });
}

}  // namespace traceback::app
