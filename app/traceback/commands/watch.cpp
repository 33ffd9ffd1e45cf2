// traceback watch: not for people. The runtime starts it where the policy asks for snaps of hangs.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <print>

#include "app/traceback/command.h"
#include "model/utf8.h"
#include "runtime/collect/hang_watch.h"

namespace traceback::app {

void addWatch(CLI::App& app, Action& chosen) {
  struct Call {
    pid_t pid = 0;
    std::uint64_t seconds = 0;
    collect::SnapLimits limits;
  };
  auto call = std::make_shared<Call>();
  auto* command = app.add_subcommand("watch", "Started by the runtime: snaps the process when it hangs");
  command->group("");  // not listed
  command->add_option("--pid", call->pid)->required()->check(CLI::PositiveNumber);
  command->add_option("--seconds", call->seconds)->required()->check(CLI::PositiveNumber);
  command->add_option("--disk", call->limits.diskLimit);
  command->add_option("--keep", call->limits.keepSeconds);
  command->callback([call, &chosen] {
    chosen = [call] {
      collect::detachFromProgram();
      collect::WatchOptions options;
      options.patience = std::chrono::seconds(std::min<std::uint64_t>(call->seconds, 1'000'000));
      options.snap.limits = call->limits;
      options.onSnap = [call](const model::Result<std::filesystem::path>& snap) {
        if (snap)
          std::println(stderr, "traceback: process {} hangs; its trace is in {}", call->pid,
                       model::printable(snap->string()));
      };
      collect::watchForHangs(call->pid, options);
      return kDone;
    };
  });
}

}  // namespace traceback::app
