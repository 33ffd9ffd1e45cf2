// traceback services: which processes are recorded and watched here.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <format>
#include <iterator>
#include <vector>

#include "app/traceback/command.h"
#include "app/traceback/output.h"
#include "app/traceback/say.h"
#include "model/text_format.h"
#include "model/utf8.h"
#include "runtime/collect/files/default_folders.h"
#include "runtime/collect/files/former_root.h"
#include "runtime/collect/files/process_folder.h"
#include "runtime/collect/files/ring_folder.h"
#include "runtime/collect/rules/site_rules.h"
#include "runtime/collect/service/service_client.h"

namespace traceback::app {

namespace {

struct Watched {
  std::uint32_t pid = 0;
  std::string program, group;
  std::optional<format::ServiceState> state;  // what the service knows of it
};

// Those of this user whose rings are where rings are, and of root those that gave up its rights; the service
// need not run.
std::vector<Watched> recordedProcesses() {
  std::vector<Watched> found;
  auto folders = collect::processFoldersIn(collect::defaultRingFolder());
  std::ranges::move(collect::foldersOfFormerRoot(), std::back_inserter(folders));
  for (const auto& [path, name] : folders) {
    const auto start = collect::startOfProcess(name.pid);
    const auto header = collect::readProcessHeader(path);
    if (!start || *start != name.start || !header) continue;
    found.push_back({.pid = header->pid, .program = collect::programNameIn(path), .group = {}, .state = {}});
  }
  const collect::SiteRules rules = collect::siteRules();
  for (Watched& each : found) each.group = rules.groupOf(each.program);
  std::ranges::sort(found, {}, &Watched::pid);
  return found;
}

// Nothing if there is no service.
std::optional<format::ServiceSummary> askService(std::vector<Watched>& processes) {
  const auto service = collect::ServiceConnection::open(collect::defaultRingFolder());
  if (!service || !service->send(collect::Question{})) return std::nullopt;
  constexpr std::chrono::seconds kPatience{5};
  while (const auto message = service->receive(kPatience)) {
    if (const auto* end = std::get_if<format::ServiceSummary>(&*message)) return *end;
    const auto* state = std::get_if<format::ServiceState>(&*message);
    if (state == nullptr) return std::nullopt;
    const auto known = std::ranges::find(processes, state->process.pid, &Watched::pid);
    if (known != processes.end()) known->state = *state;
  }
  return std::nullopt;
}

std::string stateText(const Watched& process) {
  if (!process.state || process.state->watched == 0) return "recorded";
  const std::uint32_t silent = process.state->silentSeconds;
  return silent == 0 ? "alive" : std::format("silent for {} s", silent);
}

void printText(const std::vector<Watched>& processes, const std::optional<format::ServiceSummary>& service) {
  std::size_t programs = 7, groups = 5;
  for (const Watched& each : processes) {
    programs = std::max(programs, each.program.size());
    groups = std::max(groups, each.group.size());
  }
  sayLine("{:>8}  {:<{}}  {:<{}}  {:>5}  {}", "PID", "PROGRAM", programs, "GROUP", groups, "SNAPS", "STATE");
  for (const Watched& each : processes)
    sayLine("{:>8}  {:<{}}  {:<{}}  {:>5}  {}", each.pid, model::printable(each.program), programs,
            each.group.empty() ? "-" : model::printable(each.group), groups,
            each.state ? std::to_string(each.state->snaps) : "-", stateText(each));
  if (service)
    sayLine("service: process {}, for {} s; groups snapped: {}, clients refused: {}", service->pid,
            service->upSeconds, service->events, service->refused);
  else
    sayLine("service: not running; groups are not snapped together");
}

void printJson(const std::vector<Watched>& processes, const std::optional<format::ServiceSummary>& service) {
  for (const Watched& each : processes)
    sayLine("{{\"pid\":{},\"program\":{},\"group\":{},\"watched\":{},\"silent\":{},\"snaps\":{}}}", each.pid,
            model::jsonString(each.program), each.group.empty() ? "null" : model::jsonString(each.group),
            each.state && each.state->watched != 0,
            each.state && each.state->watched != 0 ? std::to_string(each.state->silentSeconds) : "null",
            each.state ? std::to_string(each.state->snaps) : "null");
  if (service)
    sayLine("{{\"service\":{},\"up\":{},\"groups_snapped\":{},\"refused\":{}}}", service->pid,
            service->upSeconds, service->events, service->refused);
  else
    sayLine("{{\"service\":null}}");
}

}  // namespace

void addServices(CLI::App& app, Action& chosen) {
  auto format = std::make_shared<std::string>("text");
  auto* command =
      app.add_subcommand("services", "Lists the processes that are recorded, and who watches them");
  command
      ->add_option("--format", *format, "text, or json: an object for each process, then one for the service")
      ->check(CLI::IsMember({"text", "json"}));
  command->footer(
      "Of this user, and as far as their rings are where this user's are. tracebackd(8) snaps groups "
      "together.");
  command->callback([format, &chosen] {
    chosen = [format] {
      std::vector<Watched> processes = recordedProcesses();
      const auto service = askService(processes);
      *format == "json" ? printJson(processes, service) : printText(processes, service);
      return kDone;
    };
  });
}

}  // namespace traceback::app
