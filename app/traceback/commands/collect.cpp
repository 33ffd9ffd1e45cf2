// traceback collect: not for people. The runtime of a process that met a fatal signal, or that is to be
// snapped and goes on, starts it, and waits.
#include <CLI/CLI.hpp>

#include "app/traceback/command.h"
#include "app/traceback/output.h"
#include "app/traceback/say.h"
#include "model/utf8.h"
#include "runtime/collect/snap/recover.h"

namespace traceback::app {

void addCollect(CLI::App& app, Action& chosen) {
  struct Call {
    pid_t pid = 0;
    pid_t tid = 0;
    std::string folder;
    std::string snapFolder;
    std::string occasion, text;
    collect::SnapLimits limits;
  };
  auto call = std::make_shared<Call>();
  auto* command = app.add_subcommand("collect", "Started by the runtime at a fatal signal: writes the snap");
  command->group("");  // not listed
  command->add_option("--pid", call->pid)->required()->check(CLI::PositiveNumber);
  command->add_option("--tid", call->tid)->required()->check(CLI::PositiveNumber);
  command->add_option("--folder", call->folder, "The process's ring folder")->required();
  command->add_option("--snap-dir", call->snapFolder);
  command->add_option("--occasion", call->occasion, "Why a process is snapped that goes on")
      ->check(CLI::IsMember({"call", "exception", "exit", "report"}));
  command->add_option("--text", call->text);
  command->add_option("--disk", call->limits.diskLimit);
  command->add_option("--keep", call->limits.keepSeconds);
  command->callback([call, &chosen] {
    chosen = [call] {
      if (!call->occasion.empty()) {
        const collect::Occasion occasion = collect::occasionOf(call->occasion);
        const auto made = collect::collectOccasion(call->pid, call->tid,
                                                   {.processFolder = call->folder,
                                                    .snapFolder = call->snapFolder,
                                                    .limits = call->limits,
                                                    .occasion = occasion,
                                                    .text = call->text});
        if (!made) return complain(made.error());
        tellLine("traceback: process {} {}; its trace is in {}", call->pid,
                 model::printable(collect::describe(occasion, call->text)), model::printable(made->string()));
        return kDone;
      }
      const auto snap = collect::collectFault(
          call->pid, call->tid,
          {.processFolder = call->folder, .snapFolder = call->snapFolder, .limits = call->limits});
      if (!snap) return complain(snap.error());
      if (*snap)
        tellLine("traceback: process {} met a fatal signal; its trace is in {}", call->pid,
                 model::printable((*snap)->string()));
      else
        tellLine(
            "traceback: process {} met the same fatal signal as runs before it; by `faults` in "
            "traceback-site(5) there is no further snap",
            call->pid);
      return kDone;
    };
  });
}

}  // namespace traceback::app
