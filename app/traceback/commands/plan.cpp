// traceback plan: what `run` would do with a program and the files that it loads.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "app/traceback/command.h"
#include "app/traceback/file_plan.h"
#include "app/traceback/installation.h"
#include "app/traceback/on_demand.h"
#include "app/traceback/output.h"
#include "app/traceback/program_search.h"
#include "app/traceback/say.h"
#include "app/traceback/thread_storage.h"
#include "model/utf8.h"

namespace traceback::app {

namespace {

struct PlanCall {
  std::string subject;
  Patterns patterns;
  std::string format;

  bool json() const { return format == "json"; }
};

std::optional<pid_t> pidIn(const std::string& text) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc() || end != text.data() + text.size() || pid <= 0) return std::nullopt;
  return pid;
}

std::string textOrNull(const std::string& text) { return text.empty() ? "null" : model::jsonString(text); }

void printHead(const LoadedFiles& loaded, const std::string& reason, bool json) {
  const LoadedFile& program = loaded.files.front();
  if (json) {
    std::string files;
    for (const LoadedFile& file : loaded.files)
      files += (files.empty() ? "" : ",") + model::jsonString(file.path);
    sayLine(R"({{"program":{},"pid":{},"recorded":{},"untraced":{},"not_listed":{},"files":[{}]}})",
            model::jsonString(program.path), loaded.pid ? std::to_string(*loaded.pid) : "null",
            loaded.recorded, textOrNull(reason), textOrNull(loaded.notListed), files);
    return;
  }
  sayLine("{}{}: {} {}", model::printable(program.path),
          loaded.pid ? std::format(" (pid {}{})", *loaded.pid, loaded.recorded ? ", is recorded" : "") : "",
          loaded.files.size(), loaded.files.size() == 1 ? "file" : "files");
  if (!reason.empty()) sayLine("  runs as it is: {}", model::printable(reason));
  if (!loaded.notListed.empty())
    sayLine("  its libraries are not listed: {}", model::printable(loaded.notListed));
}

void printFile(const LoadedFile& file, const FilePlan& plan, bool program, bool json) {
  const instrument::Report& report = plan.report;
  if (json) {
    sayLine(
        R"({{"file":{},"kind":"{}","state":"{}","traced":{},"reason":{},"functions":{},"instrumented":{},"skipped":{},"entered_directly_only":{},"file_bytes":{},"copy_bytes":{}}})",
        model::jsonString(file.path), program ? "program" : "library", stateName(plan.state), plan.traced(),
        textOrNull(plan.reason), report.functions, report.instrumented, countsAsJson(report.skipped),
        countsAsJson(report.entriesLeft), plan.fileBytes, report.outputBytes);
  } else if (!plan.traced()) {
    sayLine("{}\n  as it is: {}", model::printable(file.path), model::printable(plan.reason));
  } else {
    using State = FilePlan::State;
    sayLine("{}\n  {} of {} functions traced; {} of {}", model::printable(file.path), report.instrumented,
            report.functions,
            plan.state == State::New      ? "needs a copy"
            : plan.state == State::Cached ? "has a copy"
                                          : "is instrumented: a file",
            humanSize(report.outputBytes));
    for (const auto& [reason, count] : report.skipped) sayLine("  left alone: {:6}  {}", count, reason);
    for (const auto& [reason, count] : report.entriesLeft)
      sayLine("  entered by direct calls only: {:6}  {}", count, reason);
  }
  flushOut();  // whoever reads it sees each file when it is done
}

int runPlan(const PlanCall& call) {
  auto options = usualOptions();
  if (!options) return complain(options.error());
  const auto installation = findInstallation();
  if (!installation) return complain(installation.error());
  // Without a cache there are no copies.
  const auto known = cacheFor(installation->program, *options);
  std::optional<InstrumentedCache> cache = known ? std::optional(*known) : std::nullopt;

  const auto pid = pidIn(call.subject);
  const auto program = pid ? model::Result<std::filesystem::path>() : findProgram(call.subject);
  if (!program) return complain(program.error());
  const auto loaded = pid ? filesOfProcess(*pid, cache) : filesOfProgram(*program);
  if (!loaded) return complain(loaded.error());

  options->threadSlot = threadSlotIn(loaded->files.front().contents);
  if (cache) cache = cache->forThreadSlot(options->threadSlot);
  const std::string reason = reasonAgainstAll(*loaded, call.patterns);
  printHead(*loaded, reason, call.json());
  flushOut();
  bool anyTraced = false;
  for (std::size_t i = 0; i < loaded->files.size(); ++i) {
    const LoadedFile& file = loaded->files[i];
    FilePlan plan;
    plan.reason = reason;
    if (reason.empty()) {
      ProgressLine progress(std::format("{} of {}: {}", i + 1, loaded->files.size(), file.path));
      plan = planFor(file, i == 0 ? InstrumentedCache::Use::Execute : InstrumentedCache::Use::Load, cache,
                     call.patterns, *options, [&](double part) { progress.show(part); });
    }
    printFile(file, plan, i == 0, call.json());
    anyTraced = anyTraced || plan.traced();
  }
  return anyTraced ? kDone : kBadInput;
}

}  // namespace

void addPlan(CLI::App& app, Action& chosen) {
  auto call = std::make_shared<PlanCall>();
  auto* command = app.add_subcommand(
      "plan", "Says what run would trace of a program or process, and why not the rest; writes nothing");
  command->add_option("PROGRAM", call->subject, "A program, or the number of a process (PID)")
      ->required()
      ->type_name("|PID");
  command
      ->add_option("--only", call->patterns.only,
                   "As for run: only files whose path or name fits this pattern; may be repeated")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  command->add_option("--exclude", call->patterns.exclude, "Not such files; may be repeated")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  command
      ->add_option("--format", call->format,
                   "json: an object for the program, then one for each file as soon as it was looked at")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORMAT");
  command->footer(
      "Of a program the libraries are those that its dynamic linker names; of a process those that it has\n"
      "loaded, later ones too. It takes about as long as instrumenting them, but for files that have a copy\n"
      "already. Exit status: 0 something is traced, 1 nothing is, or the program cannot be looked at.");
  command->callback([call, &chosen] { chosen = [call] { return runPlan(*call); }; });
}

}  // namespace traceback::app
