// traceback instrument: rewrites programs and libraries so that they record.
#include "instrument/instrument.h"

#include <CLI/CLI.hpp>
#include <map>
#include <set>

#include "app/traceback/command.h"
#include "app/traceback/installation.h"
#include "app/traceback/output.h"
#include "app/traceback/say.h"
#include "instrument/starter.h"
#include "model/utf8.h"

namespace traceback::app {

namespace fs = std::filesystem;

namespace {

constexpr char kNoRuntime[] = "none";

struct InstrumentCall {
  std::vector<std::string> files;
  std::string output;
  std::string outputFolder;
  bool inPlace = false;
  bool restore = false;
  std::string runtime;
  std::string report;
  std::vector<std::string> without;
  std::string profile;
  instrument::Options options;

  bool json() const { return report == "json"; }
};

std::string reportAsJson(const instrument::Report& report, const std::string& runtime) {
  return std::format(
      R"({{"file":{},"output":{},"functions":{},"instrumented":{},"text_bytes":{},"new_text_bytes":{},"table_bytes":{},"runtime":{},"skipped":{},"entered_directly_only":{}}})",
      model::jsonString(report.file), model::jsonString(report.output), report.functions, report.instrumented,
      report.textBytes, report.newTextBytes, report.tableBytes,
      report.startsAlone ? model::jsonString(runtime) : "null", countsAsJson(report.skipped),
      countsAsJson(report.entriesLeft));
}

void printReport(const instrument::Report& report, const InstrumentCall& call) {
  sayLine(
      "{}: {} of {} functions instrumented, written to {} ({} of code became {}{})",
      model::printable(report.file), report.instrumented, report.functions, model::printable(report.output),
      humanSize(report.textBytes), humanSize(report.newTextBytes),
      report.tableBytes == 0 ? "" : std::format(" and {} of lookup tables", humanSize(report.tableBytes)));
  for (const auto& [reason, count] : report.skipped) sayLine("  left alone: {:6}  {}", count, reason);
  for (const auto& [reason, count] : report.entriesLeft)
    sayLine("  entered by direct calls only: {:6}  {}", count, reason);
  const std::string why = call.options.runtime.empty() && call.runtime != kNoRuntime
                              ? "libtraceback.so is not beside this program"
                              : report.whyNotAlone;
  if (!why.empty()) sayLine("  records in processes that are traced already, for {}", why);
}

std::unexpected<model::Error> refuse(const char* why, const fs::path& file) {
  return model::fail(why, file.string());
}

// What takes its input's place: the file itself, not a link to it.
model::Result<fs::path> itself(const fs::path& input) {
  std::error_code error;
  fs::path file = fs::canonical(input, error);
  if (error) return model::fail(error.message(), input.string());
  if (fs::hard_link_count(file, error) > 1 && !error)
    return refuse("has other names (hard links), which would keep the old contents: use -o", input);
  return file;
}

// Writing over its own input is meant only where that is said.
model::Result<fs::path> outputFor(const InstrumentCall& call, const fs::path& input) {
  if (call.output.empty() && call.outputFolder.empty()) return itself(input);
  fs::path output =
      call.outputFolder.empty() ? fs::path(call.output) : fs::path(call.outputFolder) / input.filename();
  std::error_code ignored;
  if (fs::equivalent(input, output, ignored)) {
    return refuse(
        call.restore
            ? "would be overwritten: leave the output out to restore it in place"
            : "would be overwritten by its instrumented form: name another output, or use --in-place",
        input);
  }
  return output;
}

model::Result<void> treatFile(const InstrumentCall& call, const fs::path& input, const fs::path& output,
                              const std::string& title) {
  if (call.restore) {
    auto restored = instrument::restoreFile(call.inPlace ? output : input, output);
    if (!restored) return restored;
    if (call.json())
      sayLine(R"({{"file":{},"output":{},"restored":true}})", model::jsonString(input.string()),
              model::jsonString(output.string()));
    else
      sayLine("{}: the original, written to {}", model::printable(input.string()),
              model::printable(output.string()));
    return {};
  }
  ProgressLine progress(title);
  auto report = instrument::instrumentFile(call.inPlace ? output : input, output, call.options,
                                           [&](double part) { progress.show(part); });
  if (!report) return std::unexpected(report.error());
  report->file = input.string();
  if (call.json())
    sayLine("{}", reportAsJson(*report, call.options.runtime));
  else
    printReport(*report, call);
  return {};
}

// One after the other; what is wrong with one does not keep the others from being done.
int treatFiles(const InstrumentCall& call) {
  int status = kDone;
  std::set<fs::path> written;
  for (std::size_t i = 0; i < call.files.size(); ++i) {
    const fs::path input = call.files[i];
    const auto output = outputFor(call, input);
    const std::string title = call.files.size() == 1
                                  ? input.string()
                                  : std::format("{} of {}: {}", i + 1, call.files.size(), input.string());
    model::Result<void> done;
    if (!output)
      done = std::unexpected(output.error());
    else if (!written.insert(*output).second)
      done =
          refuse("another of the files has this name, and would be overwritten: use another folder", input);
    else
      done = treatFile(call, input, *output, title);
    if (done) continue;
    status = complain(done.error());
    if (call.json())
      sayLine(R"({{"file":{},"error":{}}})", model::jsonString(input.string()),
              model::jsonString(done.error().message));
  }
  return status;
}

// Where programs are to find the runtime: as the user says, else where it is now, if it is anywhere.
model::Result<std::string> runtimeFor(const std::string& wanted) {
  if (wanted == kNoRuntime) return std::string();
  fs::path path = wanted;
  if (wanted.empty()) {
    const auto installation = findInstallation();
    if (!installation) return std::unexpected(installation.error());
    path = installation->runtime;
    if (path.empty()) return std::string();
  }
  if (!instrument::canBeRuntime(path.string()))
    return refuse(
        "cannot be looked for by programs: a runtime's path is absolute, shorter than 1000 bytes and without "
        "blank or colon; name another by --runtime",
        path);
  return path.string();
}

int runInstrument(InstrumentCall& call) {
  const int outputs = !call.output.empty() + !call.outputFolder.empty() + call.inPlace;
  if (outputs > 1) return complainAboutCall("instrument: -o, --output-dir and --in-place exclude each other");
  if (outputs == 0 && !call.restore) {
    return complainAboutCall(
        "instrument: say where to write: -o OUT for one file, --output-dir DIR for any number, or "
        "--in-place");
  }
  if (!call.output.empty() && call.files.size() > 1) {
    return complainAboutCall("instrument: -o OUT takes one file; use --output-dir DIR for several");
  }
  call.options.without.insert(call.without.begin(), call.without.end());
  if (!call.profile.empty()) {
    if (auto used = instrument::useProfile(call.options, call.profile); !used) return complain(used.error());
  }
  call.inPlace = call.output.empty() && call.outputFolder.empty();
  if (!call.restore) {
    const auto runtime = runtimeFor(call.runtime);
    if (!runtime) return complain(runtime.error());
    call.options.runtime = *runtime;
    call.options.keepOrigin = true;
    call.options.product = TRACEBACK_VERSION;
  }
  if (!call.outputFolder.empty()) {
    std::error_code error;
    fs::create_directories(call.outputFolder, error);
    if (error)
      return complain({.message = "cannot make this folder: " + error.message(),
                       .file = call.outputFolder,
                       .offset = {}});
  }
  return treatFiles(call);
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
  command->add_flag("--in-place", call->inPlace, "Put each file's instrumented form in its place");
  command->add_flag("--restore", call->restore,
                    "Write the originals of instrumented files instead, byte for byte; in place unless\n"
                    "-o or --output-dir says otherwise");
  command
      ->add_option("--runtime", call->runtime,
                   "Where a program finds libtraceback.so when it is started by itself (default: where it\n"
                   "is installed now); none: it then runs untraced")
      ->type_name("PATH");
  command
      ->add_option("--code-bases", call->options.codeBases,
                   "A file in which modules that are instrumented with it agree on the numbers of their\n"
                   "records, so that none has to be moved when it is loaded; made if missing, kept for the\n"
                   "next build")
      ->type_name("FILE");
  command
      ->add_option(
          "--profile", call->profile,
          "Put probes and code where they cost least by what this file of `traceback profile` says of which\n"
          "ways branches go")
      ->type_name("FILE");
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
  command
      ->add_option(
          "--without", call->without,
          "Leave out a technique that makes recording cheap, to see what it brings or whether it is at\n"
          "fault: kept-cursor (where the next record goes is kept in a vector register), shared-heads "
          "(where\n"
          "hardly anything runs, probes call routines), heads-in-place (elsewhere, they do not: without it, "
          "new\n"
          "code is smaller by a third, and slower), open-heads (a record goes on\n"
          "into a loop, and around a call, until control comes back), passed-entries (and into functions\n"
          "of the same file that are called directly), called-slots (functions of other files are called "
          "past\n"
          "the stubs of the procedure linkage table), own-slots (calls by slots of that table which turn "
          "out\n"
          "to lead into the same file are passed entries too), brought-cursor (functions that keep that "
          "register\n"
          "come back with it), followed-registers (which registers are needed is followed into what is "
          "called,\n"
          "and back), jump-tables (indirect jumps go by tables of the copies instead of looking up where "
          "they\n"
          "lead)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(
          std::vector<std::string>(instrument::kTechniques.begin(), instrument::kTechniques.end())))
      ->type_name("TECHNIQUE");
  command->add_flag("--poison", call->options.poison, "Fill original code that has copies with breakpoints")
      ->group("");  // for tests
  command->footer(
      "An instrumented program records however it is started, if the runtime is where it looks for it, and\n"
      "runs untraced if not; a library records in programs that do. TRACEBACK_RUNTIME in the environment "
      "names\n"
      "another runtime, TRACEBACK=off turns recording off. What cannot be rewritten safely is left alone "
      "and\n"
      "counted, by reason.");
  command->callback([call, &chosen] { chosen = [call] { return runInstrument(*call); }; });
}

}  // namespace traceback::app
