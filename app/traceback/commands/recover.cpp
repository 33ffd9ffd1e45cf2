// traceback recover: snaps of what killed processes left in their rings.
#include "runtime/collect/snap/recover.h"

#include <CLI/CLI.hpp>

#include "app/traceback/command.h"
#include "app/traceback/output.h"
#include "app/traceback/say.h"
#include "model/utf8.h"

namespace traceback::app {

void addRecover(CLI::App& app, Action& chosen) {
  struct Call {
    std::string folder;
    std::string snapFolder;
  };
  auto call = std::make_shared<Call>();
  auto* command = app.add_subcommand("recover", "Snaps what killed processes left behind");
  command
      ->add_option("DIR", call->folder,
                   "Ring folder, or one process's folder in it (default: this user's; and, for root, what "
                   "became of its\n"
                   "processes that had given up its rights)")
      ->type_name("");
  command
      ->add_option("--snap-dir", call->snapFolder,
                   "Where the snaps go (default: where the processes were told)")
      ->type_name("DIR");
  command->footer(
      "Prints the name of each snap. Without anything to recover it prints nothing, and that is no error.");
  command->callback([call, &chosen] {
    chosen = [call] {
      int status = kDone;
      collect::RecoverOptions options;
      options.folder = call->folder;
      options.snapFolder = call->snapFolder;
      options.onProblem = [&](const model::Error& problem) { status = complain(problem); };
      const auto snaps = collect::recover(options);
      if (!snaps) return complain(snaps.error());
      for (const auto& snap : *snaps) sayLine("{}", model::printable(snap.string()));
      return status;
    };
  });
}

}  // namespace traceback::app
