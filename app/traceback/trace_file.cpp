#include "app/traceback/trace_file.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <format>

#include "app/traceback/say.h"
#include "loader/load_trace.h"
#include "model/text_format.h"
#include "model/utf8.h"

namespace traceback::app {

model::Result<std::shared_ptr<const model::Trace>> openTrace(const std::string& snap) {
  return loader::loadTrace(snap);
}

model::Result<std::vector<model::ThreadIndex>> threadsNamed(const model::Trace& trace,
                                                            const std::string& snap,
                                                            const std::string& name) {
  std::vector<model::ThreadIndex> chosen;
  const bool byFault = name.empty() && std::ranges::any_of(trace.threads, [](const auto& thread) {
                         return thread->info().atFault;
                       });
  for (std::uint32_t i = 0; i < trace.threads.size(); ++i) {
    const model::ThreadIndex index{i};
    if (byFault ? trace.threads[i]->info().atFault
                : name.empty() || name == "all" || name == std::to_string(model::threadNumber(index)))
      chosen.push_back(index);
  }
  if (chosen.empty() && !trace.threads.empty()) {
    return model::fail(std::format("has no thread {}: they count from 1 to {}", name, trace.threads.size()),
                       snap);
  }
  return chosen;
}

namespace {

std::string faultText(std::uint32_t signal, std::uint32_t signalCode, model::RuntimeAddr address) {
  std::string name = model::signalName(signal);
  if (signal == SIGABRT) return "aborted";
  // si_code, sigaction(2): from 0 down somebody sent it, and the address is none.
  const auto code = static_cast<std::int32_t>(signalCode);
  if (code <= 0) return name + ", sent by a program";
  if (code == SI_KERNEL) return name;
  return std::format("{} at address {:#x}", name, address.value);
}

std::string snappedFor(const model::Trace::Summary& summary) {
  switch (summary.reason) {
    case model::TraceReason::Fault:
      return faultText(summary.signal, summary.signalCode, summary.faultAddress);
    case model::TraceReason::Abort:
      return "aborted";
    case model::TraceReason::UserRequest:
      return "snapped while it ran";
    case model::TraceReason::Recovered:
      return "recovered after it was killed";
    case model::TraceReason::Api:
      return summary.occasion.empty() ? "snapped itself" : summary.occasion;
    case model::TraceReason::Hang:
      return summary.occasion.empty() ? "hung" : summary.occasion;
    case model::TraceReason::Policy:
      return summary.occasion.empty() ? "snapped by policy" : summary.occasion + " (snapped by policy)";
    case model::TraceReason::Unknown:
      break;
  }
  return "reason unknown";
}

}  // namespace

std::string reasonText(const model::Trace::Summary& summary) {
  using Then = model::Trace::Summary::HandledFault::Then;
  const auto& first = summary.handledFault;
  const std::string why = model::abortText(summary);
  const std::string said = why.empty() ? why : ": " + why;
  if (!first) return snappedFor(summary) + said;
  const std::string text = faultText(first->signal, first->code, first->address) + said;
  switch (first->then) {
    case Then::EndedProcess:
      return text + "; its handler ended the process";
    case Then::Runs:
      return std::format("{}; thread {} was in its handler of {}", snappedFor(summary),
                         model::threadNumber(first->thread), text);
    default:
      return std::format("{}; its handler raised {}", text,
                         first->signal == summary.signal ? "it again" : model::signalName(summary.signal));
  }
}

std::vector<std::string> groupLines(const model::Trace::Summary& summary, const std::string& snap) {
  namespace fs = std::filesystem;
  if (!summary.group) return {};
  const auto found = [&snap](const std::string& path) {
    std::error_code error;
    if (fs::path(path).is_absolute() && fs::exists(path, error)) return path;
    const fs::path beside = fs::path(snap).parent_path() / fs::path(path).filename();
    return fs::exists(beside, error) ? beside.string() : path + " (not here)";
  };
  std::vector<std::string> lines;
  for (const auto& member : summary.group->members) {
    if (member.pid == summary.pid) continue;
    lines.push_back(std::format(
        "snapped together, group {}: {} (pid {}){}, {}", summary.group->name, member.program, member.pid,
        member.pid == summary.group->cause ? ", which broke down" : "", found(member.snap)));
  }
  if (summary.group->leftOut != 0)
    lines.push_back(std::format("{} further processes of the group {} were not snapped",
                                summary.group->leftOut, summary.group->name));
  return lines;
}

std::string whenText(model::Nanoseconds when) {
  if (when.value == 0) return "unknown";
  const std::chrono::sys_seconds seconds{std::chrono::seconds(when.value / 1'000'000'000)};
  return std::format("{:%FT%TZ}", seconds);
}

void complainAboutDamage(const std::string& snap, const model::LoadReport& report) {
  for (const auto& note : report.notes()) {
    if (note.severity == model::Severity::Info) continue;
    tellLine("traceback: {}: {}{}", model::printable(snap), model::printable(note.text),
             note.count > 1 ? std::format(" ({} times)", note.count) : "");
  }
}

}  // namespace traceback::app
