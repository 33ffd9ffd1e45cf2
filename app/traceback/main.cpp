// traceback: the command line. No Qt here.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <print>

#include "app/traceback/command.h"
#include "app/traceback/output.h"
#include "app/traceback/policy_check.h"

namespace {

using namespace traceback::app;

int parseAndRun(std::vector<std::string> arguments) {
  CLI::App app("Shows how a program got to its fault: records, snaps, prints and opens traces.", "traceback");
  app.set_version_flag("--version", "traceback " TRACEBACK_VERSION);
  app.require_subcommand(1);
  app.set_help_flag("-h,--help", "Print this and exit");
  app.failure_message(CLI::FailureMessage::simple);
  app.get_formatter()->column_width(34);
  std::vector<std::string> words;
  if (!arguments.empty() && arguments.front() == "run") words = takeProgramWords(arguments);
  if (!arguments.empty() && arguments.front() == "profile") words = takeWordsBehindDashes(arguments);
  Action chosen;
  addInstrument(app, chosen);
  addRun(app, chosen, words);
  addPlan(app, chosen);
  addSnap(app, chosen);
  addRecover(app, chosen);
  addServices(app, chosen);
  addPolicy(app, chosen);
  addProfile(app, chosen, words);
  addPrint(app, chosen);
  addQuery(app, chosen);
  addCompare(app, chosen);
  addExport(app, chosen);
  addInfo(app, chosen);
  addView(app, chosen);
  addDoctor(app, chosen);
  addPrepare(app, chosen);
  addCompleteWords(app, chosen);
  addCollect(app, chosen);
  addWatch(app, chosen);

  // CLI11 reports by throwing, also that help was asked for.
  try {
    std::ranges::reverse(arguments);  // as CLI11 wants them
    app.parse(std::move(arguments));
  } catch (const CLI::Success& asked) {
    app.exit(asked);
    return finishOutput();
  } catch (const CLI::ParseError& error) {
    return complainAboutCall(error.what());
  }
  const int status = chosen ? chosen() : kBadCall;
  const int written = finishOutput();
  return status != kDone ? status : written;
}

}  // namespace

int main(int argc, char** argv) {
  // A reader that goes away (`| head`) is no error to report, but a file that hits its size limit is.
  std::signal(SIGXFSZ, SIG_IGN);
  return parseAndRun({argv + std::min(argc, 1), argv + argc});
}
