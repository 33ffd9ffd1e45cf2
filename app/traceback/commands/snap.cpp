// traceback snap: the trace of a running process, which goes on.
#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <format>
#include <thread>

#include "app/traceback/command.h"
#include "app/traceback/memory_option.h"
#include "app/traceback/output.h"
#include "app/traceback/say.h"
#include "model/utf8.h"
#include "runtime/collect/files/default_folders.h"
#include "runtime/collect/files/process_folder.h"
#include "runtime/collect/service/service_client.h"
#include "runtime/collect/snap/recover.h"

namespace traceback::app {

// PID_MAX_LIMIT of 64-bit kernels.
constexpr int kGreatestPid = 4 << 20;

namespace {

// Their watchers write at the same time. A name without a folder is not to be looked for.
bool isThere(const std::filesystem::path& snap) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(30);
  std::error_code error;
  while (snap.is_absolute() && !std::filesystem::exists(snap, error)) {
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

int snapGroup(const std::string& name) {
  const auto service = collect::ServiceConnection::open(collect::defaultRingFolder());
  if (!service) return complain(service.error());
  format::ServiceGroup group{};
  collect::setField(group.group, name);
  constexpr std::chrono::seconds kPatience{5};
  const auto answer = service->send(group) ? service->receive(kPatience) : std::nullopt;
  const auto* event = answer ? std::get_if<collect::GroupEvent>(&*answer) : nullptr;
  if (event == nullptr) return complain({.message = "the service does not answer", .file = {}, .offset = {}});
  if (event->members.empty())
    return complain({.message = std::format("no process of the group {} is being recorded, or it was snapped "
                                            "a moment ago; `traceback services` lists them",
                                            name),
                     .file = {},
                     .offset = {}});
  int status = kDone;
  for (const auto& member : event->members) {
    const std::string snap = collect::textField(member.snap, sizeof member.snap);
    if (isThere(snap)) {
      sayLine("{}", model::printable(snap));
      continue;
    }
    status = complain({.message = std::format("the snap of process {} was not written", member.pid),
                       .file = snap,
                       .offset = {}});
  }
  return status;
}

}  // namespace

void addSnap(CLI::App& app, Action& chosen) {
  struct Call {
    pid_t pid = 0;
    std::string snapFolder;
    std::string memory;
    std::string group;
  };
  auto call = std::make_shared<Call>();
  auto* command = app.add_subcommand("snap", "Snaps a running process; it goes on");
  command->add_option("PID", call->pid, "Process that `traceback run` started")
      ->check(CLI::Range(1, kGreatestPid))
      ->type_name("");
  command
      ->add_option("--group", call->group,
                   "All processes of this group instead, together (traceback-site(5))")
      ->type_name("NAME");
  command
      ->add_option("--snap-dir", call->snapFolder,
                   "Where the snap goes (default: where the process was told)")
      ->type_name("DIR");
  addMemoryOption(*command, call->memory);
  command->callback([call, &chosen] {
    chosen = [call] {
      if (call->group.empty() && call->pid == 0) return complainAboutCall("snap: PID or --group is required");
      if (!call->group.empty() && (call->pid != 0 || !call->snapFolder.empty() || !call->memory.empty()))
        return complainAboutCall("snap: --group takes neither PID nor another option");
      if (!call->group.empty()) return snapGroup(call->group);
      const auto snap = collect::snapProcess(
          call->pid,
          {.snapFolder = call->snapFolder, .ringFolder = {}, .keptMemory = keptMemory(call->memory)});
      if (!snap) return complain(snap.error());
      sayLine("{}", model::printable(snap->string()));
      return kDone;
    };
  });
}

}  // namespace traceback::app
