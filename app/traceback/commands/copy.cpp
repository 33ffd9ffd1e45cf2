// traceback copy: not for people. What makes a copy on demand executes it, and reads how it ended.
#include <CLI/CLI.hpp>

#include "app/traceback/command.h"
#include "app/traceback/on_demand.h"

namespace traceback::app {

void addCopy(CLI::App& app, Action& chosen) {
  struct Call {
    int tell = -1;
    std::string codes, input, output;
  };
  auto call = std::make_shared<Call>();
  auto* command = app.add_subcommand("copy", "Started to instrument a file that is about to be used");
  command->group("");  // not listed
  command->add_option("--tell", call->tell)->required();
  command->add_option("--codes", call->codes)->required();
  command->add_option("INPUT", call->input)->required();
  command->add_option("OUTPUT", call->output)->required();
  command->callback([call, &chosen] {
    chosen = [call] {
      const auto options = optionsFromEnvironment();
      if (!options) return kBadCall;
      instrumentAndTell(call->tell, call->input, call->output, optionsOfCopies(*options, call->codes));
      return kDone;
    };
  });
}

}  // namespace traceback::app
