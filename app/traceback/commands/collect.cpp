// traceback collect: not for people. The runtime of a process that met a fatal signal starts it, and waits.
#include <CLI/CLI.hpp>
#include <print>

#include "app/traceback/command.h"
#include "app/traceback/output.h"
#include "model/utf8.h"
#include "runtime/collect/recover.h"

namespace traceback::app {

void addCollect(CLI::App& app, Action& chosen) {
  struct Call {
    pid_t pid = 0;
    pid_t tid = 0;
    std::string folder;
    std::string snapFolder;
  };
  auto call = std::make_shared<Call>();
  auto* command = app.add_subcommand("collect", "Started by the runtime at a fatal signal: writes the snap");
  command->group("");  // not listed
  command->add_option("--pid", call->pid)->required()->check(CLI::PositiveNumber);
  command->add_option("--tid", call->tid)->required()->check(CLI::PositiveNumber);
  command->add_option("--folder", call->folder, "The process's ring folder")->required();
  command->add_option("--snap-dir", call->snapFolder);
  command->callback([call, &chosen] {
    chosen = [call] {
      const auto snap = collect::collectFault(
          call->pid, call->tid, {.processFolder = call->folder, .snapFolder = call->snapFolder});
      if (!snap) return complain(snap.error());
      std::println(stderr, "traceback: process {} met a fatal signal; its trace is in {}", call->pid,
                   model::printable(snap->string()));
      return kDone;
    };
  });
}

}  // namespace traceback::app
