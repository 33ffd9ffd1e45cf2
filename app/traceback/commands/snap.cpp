// traceback snap: the trace of a running process, which goes on.
#include <CLI/CLI.hpp>
#include <print>

#include "app/traceback/command.h"
#include "app/traceback/memory_option.h"
#include "app/traceback/output.h"
#include "model/utf8.h"
#include "runtime/collect/recover.h"

namespace traceback::app {

// PID_MAX_LIMIT of 64-bit kernels.
constexpr int kGreatestPid = 4 << 20;

void addSnap(CLI::App& app, Action& chosen) {
  struct Call {
    pid_t pid = 0;
    std::string snapFolder;
    std::string memory;
  };
  auto call = std::make_shared<Call>();
  auto* command = app.add_subcommand("snap", "Snaps a running process; it goes on");
  command->add_option("PID", call->pid, "Process that `traceback run` started")
      ->required()
      ->check(CLI::Range(1, kGreatestPid))
      ->type_name("");
  command
      ->add_option("--snap-dir", call->snapFolder,
                   "Where the snap goes (default: where the process was told)")
      ->type_name("DIR");
  addMemoryOption(*command, call->memory);
  command->callback([call, &chosen] {
    chosen = [call] {
      const auto snap = collect::snapProcess(
          call->pid,
          {.snapFolder = call->snapFolder, .ringFolder = {}, .keptMemory = keptMemory(call->memory)});
      if (!snap) return complain(snap.error());
      std::println("{}", model::printable(snap->string()));
      return kDone;
    };
  });
}

}  // namespace traceback::app
