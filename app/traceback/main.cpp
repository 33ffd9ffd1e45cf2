// traceback: the command line. No Qt here.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <format>
#include <sstream>

#include "app/traceback/command.h"
#include "app/traceback/large_pages.h"
#include "app/traceback/output.h"
#include "app/traceback/own_interrupts.h"
#include "app/traceback/policy_check.h"
#include "app/traceback/say.h"

namespace {

using namespace traceback::app;

// What CLI11 says of it, but for what a user would not understand.
std::string whatIsWrong(const CLI::App& app, const CLI::ParseError& error) {
  const auto others = app.remaining();
  if (app.get_subcommands().empty() && !others.empty()) {
    const std::string& word = others.front();
    return std::format("there is no {} {}", word.starts_with('-') ? "option" : "command", word);
  }
  constexpr std::string_view kNumber = "Could not convert: ";  // OPTION = VALUE; all others take text
  std::string text = error.what();
  const auto equals = text.find(" = ");
  if (!text.starts_with(kNumber) || equals == std::string::npos) return text;
  return std::format("{} takes a whole number from 0 on, not {}",
                     text.substr(kNumber.size(), equals - kNumber.size()), text.substr(equals + 3));
}

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
  addCopy(app, chosen);
  addRenew(app, chosen);
  addCompleteWords(app, chosen);
  addCollect(app, chosen);
  addWatch(app, chosen);

  // CLI11 reports by throwing, also that help was asked for.
  try {
    std::ranges::reverse(arguments);  // as CLI11 wants them
    app.parse(std::move(arguments));
  } catch (const CLI::Success& asked) {
    std::ostringstream text;
    app.exit(asked, text, text);
    putOut(text.str());
    return finishOutput();
  } catch (const CLI::ParseError& error) {
    return complainAboutCall(whatIsWrong(app, error));
  }
  const int status = chosen ? chosen() : kBadCall;
  const int written = finishOutput();
  return status != kDone ? status : written;
}

}  // namespace

int main(int argc, char** argv) {
  startInLargePages(argv);
  holdClosedStreams();
  // A reader that goes away (`| head`) is no error to report, but a file that hits its size limit is. A
  // program that is executed has the default again, which it would not if the signal were ignored.
  for (const int signal : heeded({SIGXFSZ})) setHandler(signal, [](int) {});
  return parseAndRun({argv + std::min(argc, 1), argv + argc});
}
