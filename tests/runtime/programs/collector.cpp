// What the runtime starts to have a snap written, for the tests: `collect --pid PID --tid TID --folder DIR`,
// and what more it says.
#include <chrono>
#include <cstdlib>
#include <map>
#include <print>
#include <string>
#include <string_view>
#include <thread>

#include "runtime/collect/snap/recover.h"
#include "runtime/collect/watch/watcher.h"

using namespace traceback;

int main(int count, char** arguments) {
  const std::string_view command = count < 2 ? "" : arguments[1];
  if (command != "collect" && command != "watch") return 2;
  if (const char* home = std::getenv("HOME"); home != nullptr && std::string_view(home).ends_with("/slow"))
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  std::map<std::string, std::string, std::less<>> values;
  for (int i = 2; i < count; ++i) {
    const std::string_view word = arguments[i];
    if (const auto equals = word.find('='); equals != std::string_view::npos)
      values.emplace(word.substr(0, equals), word.substr(equals + 1));
    else if (i + 1 < count)
      values.emplace(word, arguments[++i]);
  }
  const auto number = [&](const char* name) { return std::strtoull(values[name].c_str(), nullptr, 10); };
  const auto pid = static_cast<pid_t>(number("--pid")), tid = static_cast<pid_t>(number("--tid"));
  const collect::SnapLimits limits{.diskLimit = number("--disk"), .keepSeconds = number("--keep")};
  if (command == "watch") {
    collect::detachFromProgram();
    const auto seconds = [&](const char* name) { return std::chrono::seconds(number(name)); };
    collect::watchProcess(pid,
                          {.processFolder = values["--folder"],
                           .hang = seconds("--hang"),
                           .stall = {.patience = seconds("--stall"), .threadName = values["--stall-thread"]},
                           .wait = {.patience = seconds("--wait"), .threadName = values["--wait-thread"]},
                           .snap = {},
                           .onSnap = {}});
    return 0;
  }
  const std::string occasion = values["--occasion"];
  const auto tell = [](const model::Error& error) {
    std::println(stderr, "traceback: {}", error.text());
    return 1;
  };
  std::optional<std::filesystem::path> snap;
  if (occasion.empty()) {
    const auto made = collect::collectFault(
        pid, tid, {.processFolder = values["--folder"], .snapFolder = {}, .limits = limits});
    if (!made) return tell(made.error());
    snap = *made;
  } else {
    const auto made = collect::collectOccasion(pid, tid,
                                               {.processFolder = values["--folder"],
                                                .snapFolder = {},
                                                .limits = limits,
                                                .occasion = collect::occasionOf(occasion),
                                                .text = values["--text"]});
    if (!made) return tell(made.error());
    snap = *made;
  }
  if (snap) std::println(stderr, "traceback: snap written to {}", snap->string());
  return 0;
}
