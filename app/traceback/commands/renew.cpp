// traceback renew: not for people. `traceback run` leaves it behind where copies are to be made anew.
#include <CLI/CLI.hpp>

#include "app/traceback/command.h"
#include "app/traceback/renewal.h"

namespace traceback::app {

void addRenew(CLI::App& app, Action& chosen) {
  auto folder = std::make_shared<std::string>();
  auto* command = app.add_subcommand("renew", "Started to make copies anew in the background");
  command->group("");  // not listed
  command->add_option("--cache", *folder)->required();
  command->callback([folder, &chosen] {
    chosen = [folder] {
      const auto options = optionsFromEnvironment();
      const auto cache = InstrumentedCache::at(*folder, cacheLimit());
      if (!options || !cache) return kBadCall;
      renewAlone(*cache, *options);
      return kDone;
    };
  });
}

}  // namespace traceback::app
