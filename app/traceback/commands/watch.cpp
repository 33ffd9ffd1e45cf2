// traceback watch: not for people. The runtime starts it where the policy asks for snaps of threads that do
// not get on.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "app/traceback/command.h"
#include "app/traceback/say.h"
#include "model/utf8.h"
#include "runtime/collect/watch/watcher.h"

namespace traceback::app {

void addWatch(CLI::App& app, Action& chosen) {
  struct Call {
    pid_t pid = 0;
    std::string folder;
    std::uint64_t hang = 0, stall = 0, wait = 0;
    std::string stallThread, waitThread;
    collect::SnapLimits limits;
  };
  auto call = std::make_shared<Call>();
  auto* command =
      app.add_subcommand("watch", "Started by the runtime: snaps the process when it does not get on");
  command->group("");  // not listed
  command->add_option("--pid", call->pid)->required()->check(CLI::PositiveNumber);
  command->add_option("--folder", call->folder, "The process's ring folder")->required();
  command->add_option("--hang", call->hang);
  command->add_option("--stall", call->stall);
  command->add_option("--stall-thread", call->stallThread);
  command->add_option("--wait", call->wait);
  command->add_option("--wait-thread", call->waitThread);
  command->add_option("--disk", call->limits.diskLimit);
  command->add_option("--keep", call->limits.keepSeconds);
  command->callback([call, &chosen] {
    chosen = [call] {
      collect::detachFromProgram();
      collect::WatchOptions options;
      options.processFolder = call->folder;
      const auto seconds = [](std::uint64_t given) {
        return std::chrono::seconds(std::min<std::uint64_t>(given, 1'000'000));
      };
      options.hang = seconds(call->hang);
      options.stall = {.patience = seconds(call->stall), .threadName = call->stallThread};
      options.wait = {.patience = seconds(call->wait), .threadName = call->waitThread};
      options.snap.limits = call->limits;
      options.onSnap = [call](const std::string& why, const model::Result<std::filesystem::path>& snap) {
        if (snap)
          tellLine("traceback: process {} {}; its trace is in {}", call->pid, why,
                   model::printable(snap->string()));
      };
      collect::watchProcess(call->pid, options);
      return kDone;
    };
  });
}

}  // namespace traceback::app
