// traceback doctor: what is missing or in the way on this machine, and what to do about it.
#include <CLI/CLI.hpp>

#include "app/traceback/command.h"
#include "app/traceback/diagnosis.h"
#include "app/traceback/say.h"
#include "model/utf8.h"

namespace traceback::app {

namespace {

const char* word(Finding::State state) {
  switch (state) {
    case Finding::State::Good:
      return "ok";
    case Finding::State::Note:
      return "note";
    case Finding::State::Bad:
      return "PROBLEM";
  }
  return "";
}

int runDoctor() {
  bool good = true;
  for (const Finding& finding : diagnose()) {
    sayLine("{:8} {:18} {}", word(finding.state), finding.subject, model::printable(finding.text));
    if (!finding.remedy.empty()) sayLine("{:8} {:18} -> {}", "", "", model::printable(finding.remedy));
    good = good && finding.state != Finding::State::Bad;
  }
  return good ? kDone : kBadInput;
}

}  // namespace

void addDoctor(CLI::App& app, Action& chosen) {
  auto* command =
      app.add_subcommand("doctor", "Says what is missing or in the way on this machine, and what to do");
  command->footer(
      "Records and snaps a program of its own to see that it works. Exit status 1: there is a problem.");
  command->callback([&chosen] { chosen = [] { return runDoctor(); }; });
}

}  // namespace traceback::app
