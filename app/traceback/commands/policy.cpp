// traceback policy: tells what is wrong with a policy file.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <format>
#include <print>

#include "app/traceback/command.h"
#include "app/traceback/output.h"
#include "app/traceback/policy_check.h"
#include "model/utf8.h"
#include "runtime/collect/system_file.h"
#include "runtime/inject/policy.h"

namespace traceback::app {

model::Result<std::vector<std::string>> checkPolicy(const std::filesystem::path& file) {
  const auto bytes = collect::readWhole(file);
  if (!bytes) return std::unexpected(bytes.error());
  if (bytes->size() > inject::kMostPolicyText) {
    return model::fail(std::format("is too long for a policy: at most {} bytes", inject::kMostPolicyText),
                       file.string());
  }
  const std::string text = collect::textOf(*bytes);
  inject::Policy policy;
  std::vector<inject::PolicyProblem> problems(64);
  const unsigned wrong = inject::parsePolicy(text.data(), text.size(), policy, problems.data(),
                                             static_cast<unsigned>(problems.size()));
  std::vector<std::string> lines;
  for (unsigned i = 0; i < wrong && i < problems.size(); ++i) {
    lines.push_back(
        std::format("{}:{}: {}", model::printable(file.string()), problems[i].line, problems[i].reason));
  }
  return lines;
}

std::filesystem::path policyInUse() {
  namespace fs = std::filesystem;
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value != nullptr ? value : "");
  };
  if (const fs::path named = variable("TRACEBACK_POLICY"); !named.empty()) return named;
  const fs::path config = variable("XDG_CONFIG_HOME");
  std::vector<fs::path> places;
  if (config.is_absolute()) places.push_back(config / "traceback/policy");
  if (config.empty()) places.push_back(variable("HOME") / ".config/traceback/policy");
  places.emplace_back("/etc/traceback/policy");
  std::error_code error;
  const auto found = std::ranges::find_if(
      places, [&error](const fs::path& each) { return fs::is_regular_file(each, error); });
  return found == places.end() ? fs::path() : *found;
}

void addPolicy(CLI::App& app, Action& chosen) {
  struct Call {
    std::string file;
  };
  auto call = std::make_shared<Call>();
  auto* command = app.add_subcommand("policy", "Names each line of a policy file that is wrong");
  command
      ->add_option("FILE", call->file,
                   "Policy file, see traceback-policy(5) (default: the one that is read here)")
      ->type_name("");
  command->footer("A line that is wrong is left out when a program is recorded; the others hold.");
  command->callback([call, &chosen] {
    chosen = [call] {
      const std::filesystem::path file =
          call->file.empty() ? policyInUse() : std::filesystem::path(call->file);
      if (file.empty()) {
        std::println("no policy: there is none where traceback-policy(5) says");
        return kDone;
      }
      const auto wrong = checkPolicy(file);
      if (!wrong) return complain(wrong.error());
      for (const std::string& line : *wrong) std::println(stderr, "traceback: {}", line);
      if (wrong->empty()) std::println("{}: nothing is wrong", model::printable(file.string()));
      return wrong->empty() ? kDone : kBadInput;
    };
  });
}

}  // namespace traceback::app
