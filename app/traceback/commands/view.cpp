// traceback view: opens the viewer.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>

#include "app/traceback/command.h"
#include "app/traceback/installation.h"
#include "loader/mapped_file.h"

namespace traceback::app {

void addView(CLI::App& app, Action& chosen) {
  auto snap = std::make_shared<std::string>();
  auto* command = app.add_subcommand("view", "Opens the viewer");
  command->add_option("SNAP", *snap, "NAME.tbsnap")->required()->type_name("");
  command->callback([snap, &chosen] {
    chosen = [snap] {
      // A file that is not there is better reported here than in a window.
      if (const auto file = loader::MappedFile::open(*snap); !file) return complain(file.error());
      const auto installation = findInstallation();
      if (!installation) return complain(installation.error());
      if (installation->viewer.empty()) {
        return complain(
            {.message =
                 "traceback-viewer is not beside it: install the viewer, or copy the snap to a desktop",
             .file = installation->program.string(),
             .offset = {}});
      }
      execl(installation->viewer.c_str(), installation->viewer.c_str(), snap->c_str(), nullptr);
      return complain({.message = std::format("cannot be run: {}", std::strerror(errno)),
                       .file = installation->viewer.string(),
                       .offset = {}});
    };
  });
}

}  // namespace traceback::app
