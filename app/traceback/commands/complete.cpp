// traceback complete-words, hidden: what the shells' completions (resources/completions) ask for, from the
// same definitions that read the command line. Fields divided by tabs:
//
//   command      NAME  -     DESCRIPTION     without a COMMAND
//   option       NAME  KIND  DESCRIPTION     a line for each of its names
//   positional   NAME  KIND  DESCRIPTION
//
// KIND is what follows an option, or what the positional is: - (nothing), word (anything), file, folder,
// snap, process, or the values it may have, divided by |.
#include <CLI/CLI.hpp>
#include <string>

#include "app/traceback/command.h"
#include "app/traceback/say.h"

namespace traceback::app {

namespace {

// By the words that the help uses for it.
std::string kindOf(const CLI::Option& option) {
  if (!option.nonpositional() && option.get_positional()) {
    const std::string& name = option.get_name();
    if (name == "SNAP" || name == "GOOD" || name == "BAD") return "snap";
    if (name == "PID") return "process";
    if (name == "DIR") return "folder";
    return name == "FILE" || name == "PROGRAM" ? "file" : "word";
  }
  if (option.get_expected_max() == 0 || option.get_items_expected_max() == 0) return "-";
  const std::string type = option.get_type_name();
  if (const auto open = type.find('{'); open != std::string::npos) {
    std::string values = type.substr(open + 1, type.find('}') - open - 1);
    for (char& c : values)
      if (c == ',') c = '|';
    return values;
  }
  if (type == "DIR") return "folder";
  return type == "FILE" || type == "OUT" || type == "PATH" ? "file" : "word";
}

std::string line(std::string text) {
  for (char& c : text)
    if (c == '\t' || c == '\n') c = ' ';
  return text;
}

void printWords(const CLI::App& command) {
  for (const CLI::App* each : command.get_subcommands([](const CLI::App*) { return true; }))
    if (!each->get_group().empty())
      sayLine("command\t{}\t-\t{}", each->get_name(), line(each->get_description()));
  for (const CLI::Option* option : command.get_options()) {
    if (!option->nonpositional()) {
      sayLine("positional\t{}\t{}\t{}", option->get_name(), kindOf(*option), line(option->get_description()));
      continue;
    }
    for (const auto& name : option->get_lnames())
      sayLine("option\t--{}\t{}\t{}", name, kindOf(*option), line(option->get_description()));
    for (const auto& name : option->get_snames())
      sayLine("option\t-{}\t{}\t{}", name, kindOf(*option), line(option->get_description()));
  }
}

}  // namespace

void addCompleteWords(CLI::App& app, Action& chosen) {
  auto name = std::make_shared<std::string>();
  auto* command = app.add_subcommand("complete-words", "What a shell may complete")->group("");
  command->add_option("COMMAND", *name, "Of this command")->type_name("");
  command->callback([name, &app, &chosen] {
    chosen = [name, &app] {
      if (name->empty()) {
        printWords(app);
        return kDone;
      }
      const auto found =
          app.get_subcommands([&name](const CLI::App* each) { return each->get_name() == *name; });
      if (found.empty()) return complainAboutCall("complete-words: no command is called " + *name);
      printWords(*found.front());
      return kDone;
    };
  });
}

}  // namespace traceback::app
